"""The same formula in other ways: what the op computes is its result, and the result can be computed again.

``exp(self)`` in a formula of `exp` is `result`, and `result` there is ``exp(self)``. Parts are compared after they are
resolved, so that ``self.exp()``, ``exp(self)`` and, where that is the forward, ``1 / sqrt(self)`` are found however
they are written. The result is text: the author's, with the parts exchanged. Which way is better is for `saving` to
say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..algebra.symbolic import Symbolic
from ..algebra.symbolize import NotSymbolic, Symbolizer
from ..formula.callees import Callees
from ..formula.formula import Expr, is_call_of
from ..formula.scope import TENSOR, Scope
from ..model import Forward
from ..resolve.resolver import Resolver
from ..spec.errors import Problem
from ..spec.schema import Argument, Signature
from ..spec.syntax import parse


@dataclass(frozen=True)
class Rewriter:
    """Rewrites the formulas of one variant, which are known to be right."""

    signature: Signature
    c_entry: str
    forward: Forward
    scope: Scope
    callees: Callees
    only_real: bool

    def others(self, text: str) -> Iterator[str]:
        """Other texts of the same value, as far as there are any."""
        if not self.has_value:
            return
        rewritten = dict.fromkeys((self.with_result(text), self.without_result(text)))
        yield from (other for other in rewritten if other != text)

    @cached_property
    def has_value(self) -> bool:
        """Is the result one new tensor, and the op called by its name this op."""
        returned = [r.type for r in self.signature.returns]
        return returned == [TENSOR] and self.is_value(self.expect_resolved(parse(self.call)))

    @property
    def output(self) -> str:
        return self.signature.output_names[0]

    @property
    def call(self) -> str:
        """The op, called on its own arguments."""
        arguments = (f"{a.name}={a.name}" if a.keyword_only else a.name for a in self.signature.arguments)
        return f"{self.signature.base}({', '.join(arguments)})"

    # -- with the result for what it is

    def with_result(self, text: str) -> str:
        return _exchanged(text, self.values(parse(text)), self.output)

    def values(self, node: ast.expr) -> Iterator[ast.expr]:
        """The largest parts that are the value of the op."""
        if self.may_be_value(node) and self.is_value(self.expect_resolved(node)):
            yield node
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self.values(child)
            elif isinstance(child, ast.keyword):
                yield from self.values(child.value)

    def may_be_value(self, node: ast.expr) -> bool:
        """Does the part read every tensor that the op takes, and nothing but arguments."""
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        read = names & self.scope.variables.keys()
        operands = {argument.name for argument in self.signature.arguments if _is_operand(argument)}
        return operands <= read <= set(self.arguments)

    def is_value(self, expr: Expr | None) -> bool:
        if expr is None:
            return False
        is_forward = self.forward_tree is not None and self.expect_symbolic(expr) == self.forward_tree
        return is_forward or is_call_of(expr, self.c_entry, self.arguments)

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self.signature.arguments)

    @cached_property
    def forward_tree(self) -> Symbolic | None:
        formula = self.forward.formula
        return None if formula is None else self.expect_symbolic(formula.expr)

    def expect_symbolic(self, expr: Expr) -> Symbolic | None:
        try:
            return Symbolizer(self.callees, only_real=self.only_real).read(expr)
        except NotSymbolic:
            return None

    def expect_resolved(self, node: ast.expr) -> Expr | None:
        """The tree of a part; None where it means something in its place alone."""
        try:
            return Resolver(self.scope, self.callees).resolve_node(node)
        except Problem:
            return None

    # -- with the op for its result

    def without_result(self, text: str) -> str:
        return _exchanged(text, self.results(parse(text)), self.call)

    def results(self, node: ast.expr) -> Iterator[ast.expr]:
        """Uses of the value of the result, not only of its shape."""
        for parent in ast.walk(node):
            for child in ast.iter_child_nodes(parent):
                if isinstance(child, ast.Name) and child.id == self.output and not isinstance(parent, ast.Attribute):
                    yield child


def _is_operand(argument: Argument) -> bool:
    return argument.type.name == "Tensor" and not argument.type.optional


def _exchanged(text: str, parts: Iterator[ast.expr], other: str) -> str:
    """The text with some parts, which do not overlap, replaced."""
    for part in sorted(parts, key=lambda part: part.col_offset, reverse=True):
        assert part.end_col_offset is not None
        text = text[: part.col_offset] + other + text[part.end_col_offset :]
    return text
