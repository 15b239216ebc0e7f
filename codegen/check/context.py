"""Resolving a text of the table: what formulas and forward expressions have in common."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..entries.reader import RawText
from ..formula.callees import Callees, expect_conversion
from ..formula.formula import Expr, TupleExpr
from ..formula.scope import TENSOR, TENSORS, Scope
from ..resolve.resolver import Resolver
from ..spec.errors import Collector, Consequence, Problem
from ..spec.schema_types import Type


@dataclass(frozen=True)
class Resolved:
    expr: Expr
    spellings: frozenset[str]  # how it writes gradients: "grad", "grads", "grad_values"
    lets: tuple[tuple[str, Expr], ...] = ()  # the parts that the entry names


@dataclass
class Context:
    """The table around one entry."""

    callees: Callees
    multi_returns: Mapping[str, tuple[str, ...]]  # C entry -> names of its returns, if several
    functions: Mapping[str, str]  # array functions: name -> module
    errors: Collector
    writers: frozenset[str] = frozenset()  # array functions that write into their first argument
    function_kind: str = "function of runtime/arrays/functions"  # what `functions` are called in messages
    # Variants repeat the texts of their entry: only the first error in a text is reported.
    told: set[RawText] = field(default_factory=set)

    def expect_expr(
        self, raw: RawText, scope: Scope, op: str, subject: str, part: tuple[int, str] | None = None
    ) -> Resolved | None:
        """The tree of `raw` (or of the `part` of it that begins at an offset), unless it is wrong."""
        start, text = part or (0, raw.text)
        resolver = Resolver(scope, self.callees)
        try:
            return Resolved(resolver.resolve(text), frozenset(resolver.spellings))
        except Consequence:
            return None
        except Problem as problem:
            self.error(raw, start + problem.offset, op, f"{subject} {problem.problem}", problem.hint)
            return None

    def expect_node(self, raw: RawText, node: ast.expr, scope: Scope, op: str, subject: str) -> Expr | None:
        """The tree of a part of `raw` that is parsed already."""
        try:
            return Resolver(scope, self.callees).resolve_node(node)
        except Consequence:
            return None
        except Problem as problem:
            self.error(raw, problem.offset, op, f"{subject} {problem.problem}", problem.hint)
            return None

    def error(self, raw: RawText, offset: int, op: str, problem: str, hint: str = "") -> None:
        if raw in self.told:
            return
        self.told.add(raw)
        self.errors.add(raw.position_of(offset), op, problem, hint)


# ---- what a whole formula must give


def expect_returns(expr: Expr, returns: tuple[Type, ...]) -> None:
    """Raise a `Problem` unless the expression gives what a composite op returns."""
    if len(returns) == 1:
        if expect_conversion(expr, returns[0]) is None:
            raise Problem(f"forward gives {expr.type.plain}, but the op returns {returns[0]}")
    elif isinstance(expr, TupleExpr):
        if len(expr.items) != len(returns):
            raise Problem(f"forward gives {len(expr.items)} results, but the op returns {len(returns)}")
        for item, returned in zip(expr.items, returns, strict=True):
            expect_returns(item, (returned,))
    elif not expr.type.is_tensor_list:
        raise Problem(f"forward gives {expr.type.plain}, but the op returns {len(returns)} results")


def gives_gradient(expr: Expr, inputs: list[Type]) -> str:
    """Why the expression is no gradient of these inputs, or ""."""
    if len(inputs) == 1:
        return _why_no_gradient(expr, inputs[0])
    if not isinstance(expr, TupleExpr):
        return "" if expr.type.is_tensor_list else f"gives {expr.type.plain}, but a tuple is wanted"
    if len(expr.items) != len(inputs):
        return f"gives {len(expr.items)} gradients for {len(inputs)} inputs"
    reasons = (_why_no_gradient(e, t) for e, t in zip(expr.items, inputs, strict=True))
    return next(filter(None, reasons), "")


def _why_no_gradient(expr: Expr, declared: Type) -> str:
    """A gradient may be None: then there is none."""
    wanted = TENSORS if declared.is_list else TENSOR
    given = expr.type.plain.required
    if given.name == "None" or (given.name == wanted.name and given.is_list == wanted.is_list):
        return ""
    return f"gives {expr.type.plain}, but a gradient of {declared.plain} is a {wanted}"
