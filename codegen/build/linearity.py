"""Linearity over complex numbers: which trees are holomorphic except for their conjugates."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeGuard

from ..entries.declaration import Declaration
from ..formula.callees import Callees, is_outside
from ..formula.formula import Call, Conditional, Expr, Literal, Operator
from ..formula.substitute import rebuilt
from ..model import Table
from ..spec.errors import Problem
from ..spec.syntax import parse
from ..spec.vocabulary import HOLOMORPHIC_UFUNCS

# Written in a formula they choose between values, or say how large something is: no derivative goes through them.
_TRANSPARENT = frozenset({"conj", "where", "expand"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "neg"})
_TESTS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&", "|", "~", "and", "or", "not", "is"})


def holomorphic_ops(declarations: Iterable[Declaration], library: Table | None = None) -> frozenset[str]:
    """Bases of the ops that are differentiable in the complex plane, with real values on the real line."""
    pending = {d.base: d for d in declarations if d.forward is not None}
    found = set(library.holomorphic - pending.keys() if library else _TRANSPARENT)
    while True:
        new = {base for base, d in pending.items() if base not in found and _is_holomorphic_op(d, found)}
        if not new:
            return frozenset(found)
        found |= new


def _is_holomorphic_op(declaration: Declaration, known: set[str]) -> bool:
    forward = declaration.forward
    if forward is None or not declaration.supports_complex:
        return False
    if forward.kind == "ufunc":
        return forward.text.strip() in HOLOMORPHIC_UFUNCS
    return forward.kind == "pointwise" and _is_holomorphic_text(forward.text, known)


def _is_holomorphic_text(text: str, known: set[str]) -> bool:
    try:
        tree = parse(text)
    except Problem:
        return False  # reported where the forward is resolved
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(isinstance(node, ast.Constant) and isinstance(node.value, complex) for node in ast.walk(tree)):
        return False
    return all(isinstance(call.func, ast.Name) and call.func.id in known for call in calls)


def is_holomorphic(expr: Expr, callees: Callees) -> bool:
    """Does the tree consist of holomorphic steps and of conjugates alone?

    Such a tree F with real coefficients satisfies ``conj(F(conj(t))) = G(t)``, where G is F without its conjugates.
    """
    return all(_is_holomorphic_step(part, callees) for part in expr.walk())


def _is_holomorphic_step(part: Expr, callees: Callees) -> bool:
    match part:
        case Call(c_entry=c_entry):
            return callees.is_holomorphic(c_entry)
        case Operator(symbol=symbol):
            return symbol in _ARITHMETIC or symbol in _TESTS
        case Conditional():
            return True
        case Literal(value=value):
            return not isinstance(value, complex)
    return True


def without_conj(expr: Expr) -> Expr:
    """The tree with the argument of each conjugate in its place."""
    return rebuilt(expr, lambda part: part.arguments[0] if _is_conj(part) else part)


def _is_conj(part: Expr) -> TypeGuard[Call]:
    return isinstance(part, Call) and part.function == "conj" and not is_outside(part.c_entry)
