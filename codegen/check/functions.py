"""The functions that a table declares for its formulas: what each gives, and that none calls itself."""

from __future__ import annotations

import ast

from ..entries.functions import DeclaredFunctions
from ..formula.callees import expect_conversion
from ..formula.formula import Name
from ..formula.functions import Function
from ..formula.scope import Scope
from ..spec.reach import reached
from .context import Context

_START = len("composite(")


def verify_functions(declared: DeclaredFunctions, ops: set[str], context: Context) -> None:
    """Report the functions that are wrong, by themselves or as names; `ops` are the bases of the table."""
    calls = {name: _called(function) for name, function in declared.functions.items()}
    for name in declared.functions:
        entry = declared.entries[name]
        if name in ops:
            context.errors.add(entry.name.position, name, f"function '{name}' is an op of the table, too")
        if name in reached(calls[name], calls):
            context.errors.add(entry.texts["forward"].position, name, "forward calls the function itself")
            context.callees.broken_functions.add(name)
    for name, function in declared.functions.items():
        if name not in context.callees.broken_functions:
            _verify_body(name, function, declared, context)


def _verify_body(name: str, function: Function, declared: DeclaredFunctions, context: Context) -> None:
    raw = declared.entries[name].texts["forward"]
    variables = {a.name: Name(a.type.plain, a.name) for a in function.signature.arguments}
    scope = Scope(variables=variables, multi_returns=context.multi_returns)
    found = context.expect_expr(raw, scope, name, "forward", (_START, raw.text[_START:-1]))
    if found is None:
        context.callees.broken_functions.add(name)
    elif expect_conversion(found.expr, function.returned) is None:
        problem = f"forward gives {found.expr.type.plain}, but the function returns {function.returned}"
        context.error(raw, _START, name, problem)
        context.callees.broken_functions.add(name)


def report_uncalled(declared: DeclaredFunctions, context: Context) -> None:
    for name in sorted(declared.functions.keys() - context.callees.called - context.callees.broken_functions):
        position = declared.entries[name].name.position
        context.errors.add(position, name, f"function '{name}' is called by no formula")


def _called(function: Function) -> frozenset[str]:
    calls = (node.func for node in ast.walk(function.body) if isinstance(node, ast.Call))
    return frozenset(name for f in calls if (name := getattr(f, "id", getattr(f, "attr", ""))))
