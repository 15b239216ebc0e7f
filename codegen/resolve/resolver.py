"""From the text of a formula to its tree: the type checker of the formula language.

The language is the part of Python that a gradient needs: numbers, tensors, their operators, calls
of ops and helpers, ``a if test else b``, subscripts of shapes and lists, comprehensions. The rest of
Python is refused by name.
"""

from __future__ import annotations

import ast
import sys
from functools import reduce
from itertools import groupby

from ..formula.callees import list_type, literal
from ..formula.formula import Expr, Gradient, Gradients, Literal, RunFact, TupleExpr
from ..formula.scope import BOOL
from ..spec.errors import Consequence, Problem, hint_from
from ..spec.foreign_words import PYTHON_WORDS, rule_hint
from ..spec.schema_types import Type
from ..spec.syntax import describe, parse
from ..spec.vocabulary import CONSTANTS, DTYPES
from .calls import CallResolver
from .operators import OperatorResolver


class Resolver(OperatorResolver, CallResolver):
    """Resolves one formula. Raises `Problem` with the offset of what is wrong."""

    def resolve(self, text: str) -> Expr:
        return self.resolve_node(parse(text))

    def resolve_node(self, node: ast.expr) -> Expr:
        """The tree of what is parsed already."""
        return self.visit(node)

    def visit(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._bool(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple() | ast.List():
                return self._tuple(node)
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node)
        raise Problem(f"has {describe(node)}, which formulas do not know", node.col_offset)

    # -- leaves

    def _constant(self, node: ast.Constant) -> Expr:
        if isinstance(node.value, (bytes, type(...))):
            raise Problem(f"has the constant {node.value!r}, which formulas do not know", node.col_offset)
        if isinstance(node.value, int) and abs(node.value) > sys.float_info.max:
            raise Problem("has a number that no float can hold", node.col_offset, "Write inf.")
        return literal(node.value)

    def _name(self, node: ast.Name) -> Expr:
        found = self.scope.variables.get(node.id)
        if found is not None:
            return self.narrowed(self._noted(node.id, found))
        if node.id in self.scope.missing:
            self._report_missing(node)
        if node.id == "retain_variables" and self.scope.in_backward:
            return RunFact(BOOL, node.id)
        if node.id in CONSTANTS:
            return Literal(Type("float"), CONSTANTS[node.id])
        if node.id in DTYPES:
            return Literal(Type("dtype"), node.id)
        meant = PYTHON_WORDS.get(node.id)
        hint = (
            f"Write {meant}." if meant else rule_hint(node.id) or hint_from("In scope", node.id, self.scope.variables)
        )
        raise Problem(f"uses '{node.id}', which is not in scope", node.col_offset, hint)

    def _report_missing(self, node: ast.Name) -> None:
        reason = self.scope.missing[node.id]
        if not reason:
            raise Consequence(f"uses '{node.id}', which is wrong")
        raise Problem(f"uses '{node.id}', {reason}", node.col_offset)

    def _noted(self, name: str, found: Expr) -> Expr:
        if isinstance(found, (Gradient, Gradients)) and not self.is_inserted:
            self.spellings.add(name)
        return found

    def _tuple(self, node: ast.Tuple | ast.List) -> Expr:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return self._joined(node)
        items = tuple(self.visit(item) for item in node.elts)
        return TupleExpr(list_type(items), items)

    def _joined(self, node: ast.Tuple | ast.List) -> Expr:
        """``[a, *rest]`` is ``[a] + rest``."""
        parts: list[ast.expr] = []
        for starred, run in groupby(node.elts, lambda item: isinstance(item, ast.Starred)):
            items = list(run)
            lists = [item.value for item in items if isinstance(item, ast.Starred)]
            parts += lists if starred else [ast.copy_location(ast.List(items, ast.Load()), items[0])]
        if len(parts) == 1:
            return self.visit(parts[0])
        return self.visit(reduce(lambda left, right: ast.copy_location(ast.BinOp(left, ast.Add(), right), left), parts))
