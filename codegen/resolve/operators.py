"""Operators in formulas: of numbers by their types, of tensors by the ops that take them."""

from __future__ import annotations

import ast

from ..formula.callees import Mismatch, bind, literal, wider
from ..formula.facts import folded
from ..formula.formula import Attribute, Conditional, Expr, Gradient, IsUndefined, Literal, Name, Operator
from ..formula.scope import BOOL, INT, TENSOR
from ..spec.errors import Problem
from ..spec.syntax import describe
from .comprehensions import ComprehensionResolver
from .value_types import (
    are_comparable,
    constant_of,
    has_tensor,
    is_list_arithmetic,
    joined_type,
    list_sum,
    names_present,
    number_type,
)

# Python's operator -> symbol in the tree, special method, reflected method. An operator whose
# reflected method is itself may swap its operands.
BINARY_OPERATORS: dict[type[ast.operator], tuple[str, str, str]] = {
    ast.Add: ("+", "__add__", "__radd__"),
    ast.Sub: ("-", "__sub__", "__rsub__"),
    ast.Mult: ("*", "__mul__", "__rmul__"),
    ast.Div: ("/", "__truediv__", "__rtruediv__"),
    ast.FloorDiv: ("//", "__floordiv__", "__rfloordiv__"),
    ast.Mod: ("%", "__mod__", "__rmod__"),
    ast.Pow: ("**", "__pow__", "__rpow__"),
    ast.MatMult: ("@", "__matmul__", "__rmatmul__"),
    ast.BitAnd: ("&", "__and__", "__rand__"),
    ast.BitOr: ("|", "__or__", "__ror__"),
    ast.BitXor: ("^", "__xor__", "__rxor__"),
}
_COMMUTATIVE = frozenset("+*&|^")
_COMPARE: dict[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Eq: ("==", "__eq__", "__eq__"),
    ast.NotEq: ("!=", "__ne__", "__ne__"),
    ast.Lt: ("<", "__lt__", "__gt__"),
    ast.LtE: ("<=", "__le__", "__ge__"),
    ast.Gt: (">", "__gt__", "__lt__"),
    ast.GtE: (">=", "__ge__", "__le__"),
}
_UNARY: dict[type[ast.unaryop], tuple[str, str]] = {
    ast.USub: ("neg", "__neg__"),
    ast.Invert: ("~", "__invert__"),
}
_LOGICAL = {"and": "logical_and", "or": "logical_or", "not": "logical_not"}


class OperatorResolver(ComprehensionResolver):
    """Resolves arithmetic, comparisons, logic and ``a if test else b``."""

    # -- operators

    def _binary(self, node: ast.BinOp) -> Expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if type(node.op) not in BINARY_OPERATORS:
            raise Problem(
                f"has the operator of {describe(node.op)}, which formulas do not know", node.left.end_col_offset or 0
            )
        symbol, method, reflected = BINARY_OPERATORS[type(node.op)]
        if is_list_arithmetic(symbol, left.type, right.type):
            return Operator(list_sum(left.type, right.type), symbol, (left, right))
        if not (has_tensor(left) or has_tensor(right)):
            return self._of_numbers(node, Operator(number_type(node, symbol, left, right), symbol, (left, right)))
        mirrored = method if symbol in _COMMUTATIVE else ""
        return self._operator(node, symbol, (left, right), method, mirrored, reflected)

    @staticmethod
    def _of_numbers(node: ast.BinOp, found: Operator) -> Operator:
        """Compilers compute with constants: ``1 / 0`` and ``10 ** 10 ** 10`` are for none of them."""
        try:
            constant_of(found)
        except ArithmeticError as error:
            raise Problem(
                f"has '{ast.unparse(node)}', which cannot be computed: {error.args[-1]}", node.col_offset
            ) from None
        return found

    def _operator(
        self,
        node: ast.expr,
        symbol: str,
        operands: tuple[Expr, ...],
        method: str,
        mirrored: str = "",
        reflected: str = "",
    ) -> Operator:
        """An operator with a tensor: the first op that takes the operands, else the swapped ones."""
        self.forgive_broken(method)
        reasons: list[str] = []
        attempts = [(method, operands), (mirrored, operands[::-1]), (reflected, operands[::-1])]
        for name, arguments in attempts:
            for callee in self.callees.of_operator(name):
                try:
                    bound = bind(callee, list(arguments))
                except Mismatch as mismatch:
                    reasons.append(f"{callee.signature.base} {mismatch}")
                    continue
                callee = self.promoting(callee)
                return Operator(callee.result, symbol, operands, callee.c_entry, callee.family, bound)
        raise Problem(*self._no_operator(node, symbol, operands, method, reasons))

    def _no_operator(
        self,
        node: ast.expr,
        symbol: str,
        operands: tuple[Expr, ...],
        method: str,
        reasons: list[str],
    ) -> tuple[str, int, str]:
        shown = "-" if symbol == "neg" else symbol
        types = " and ".join(str(o.type.plain) for o in operands)
        problem = f"applies '{shown}' to {types}, which no op takes"
        hint = f"{reasons[0]}." if reasons else f"No op of the table declares {method}."
        return problem, node.col_offset, hint

    def _unary(self, node: ast.UnaryOp) -> Expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(node.op, ast.Not):
            return self._logical(node, "not", (operand,))
        symbol, method = _UNARY[type(node.op)]
        if has_tensor(operand):
            return self._operator(node, symbol, (operand,), method)
        if symbol == "neg" and operand.type.is_list and not operand.type.optional and operand.type.item.is_number:
            return self._negated_list(operand)
        if not operand.type.is_number:
            raise Problem(f"applies '-' to {operand.type}, which is no number", node.col_offset)
        if symbol == "neg" and isinstance(operand, Literal):
            return literal(-operand.value)  # type: ignore[operator]
        return Operator(wider(operand.type, INT), symbol, (operand,))

    def _compare(self, node: ast.Compare) -> Expr:
        """``a < b < c`` is ``a < b and b < c``."""
        nodes = [node.left, *node.comparators]
        links: list[Expr] = [
            self._comparison(node, op, left, right) for op, left, right in zip(node.ops, nodes, nodes[1:], strict=False)
        ]
        result = links[0]
        for link in links[1:]:
            result = self._logical(node, "and", (result, link))
        return result

    def _comparison(self, node: ast.Compare, op: ast.cmpop, left_node: ast.expr, right_node: ast.expr) -> Expr:
        left, right = self.visit(left_node), self.visit(right_node)
        if isinstance(op, (ast.Is, ast.IsNot)):
            return self._is_none(node, left, right, negated=isinstance(op, ast.IsNot))
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._contained(node, op, left, right)
        if type(op) not in _COMPARE:
            raise Problem(
                f"has the operator of {describe(op)}, which formulas do not know", left_node.end_col_offset or 0
            )
        symbol, method, mirrored = _COMPARE[type(op)]
        if has_tensor(left) or has_tensor(right):
            return self._operator(node, symbol, (left, right), method, mirrored)
        if not are_comparable(symbol, left.type, right.type):
            raise Problem(f"compares {left.type} with {right.type}", left_node.col_offset)
        return Operator(BOOL, symbol, (left, right))

    @staticmethod
    def _contained(node: ast.Compare, op: ast.In | ast.NotIn, left: Expr, right: Expr) -> Expr:
        """``0 in dim``, ``reduction in ('sum', 'mean')``."""
        kind = right.type
        if not kind.is_list or kind.optional or kind.is_tensor_list or not are_comparable("==", left.type, kind.item):
            raise Problem(f"looks for {left.type.plain} in {kind.plain}", node.col_offset)
        return Operator(BOOL, "in" if isinstance(op, ast.In) else "not in", (left, right))

    def _is_none(self, node: ast.Compare, left: Expr, right: Expr, negated: bool) -> Expr:
        if not isinstance(right, Literal) or right.value is not None:
            raise Problem("uses 'is' with something else than None", node.col_offset)
        if isinstance(left, Literal):  # what was not given to a function
            test: Expr = literal(left.value is None)
        elif self.is_inserted and not left.type.optional:
            test = literal(False)
        elif isinstance(left, Gradient):
            test = IsUndefined(BOOL, left.index, left.index in self.scope.optional_outputs)
        elif isinstance(left, Name) and left.type.name == "Tensor":
            test = Attribute(BOOL, left.name, "is_none")
        else:
            test = Operator(BOOL, "is", (left, right))
        return folded("not", (test,)) if negated else test

    def _bool(self, node: ast.BoolOp) -> Expr:
        """``and`` evaluates its right side only where the left side holds: names stay narrowed."""
        symbol = "and" if isinstance(node.op, ast.And) else "or"
        result = self.visit(node.values[0])
        holds = symbol == "and"
        present = names_present(result, holds)
        for value in node.values[1:]:
            if self.is_inserted and isinstance(result, Literal) and result.value is not holds:
                return result
            with self.knowing(present):
                right = self.visit(value)
            present = present + names_present(right, holds)
            result = self._logical(node, symbol, (result, right))
        return result

    def _logical(self, node: ast.expr, symbol: str, operands: tuple[Expr, ...]) -> Expr:
        if all(o.type == BOOL for o in operands):
            return folded(symbol, operands)
        if self.scope.elementwise and any(has_tensor(o) for o in operands):
            return self._elementwise_logical(symbol, operands)
        wrong = next(o.type for o in operands if o.type != BOOL)
        raise Problem(f"applies '{symbol}' to {wrong}, which is no bool", node.col_offset)

    def _elementwise_logical(self, symbol: str, operands: tuple[Expr, ...]) -> Operator:
        found = self.first_match(self.callees.behind_syntax(_LOGICAL[symbol]), list(operands))
        if found is None:
            return Operator(TENSOR, symbol, operands)
        callee, bound = found
        return Operator(TENSOR, symbol, operands, callee.c_entry, callee.family, bound)

    def _conditional(self, node: ast.IfExp) -> Expr:
        test = self.visit(node.test)
        if self.is_inserted and isinstance(test, Literal):
            return self.visit(node.body if test.value else node.orelse)
        with self.knowing(names_present(test, holds=True)):
            body = self.visit(node.body)
        with self.knowing(names_present(test, holds=False)):
            orelse = self.visit(node.orelse)
        if self.scope.elementwise and test.type.is_tensor:
            return self._select(test, body, orelse)
        if test.type != BOOL:
            hint = "Select element by element with where(test, a, b)." if has_tensor(test) else ""
            raise Problem(f"tests {test.type}, which is no bool", node.test.col_offset, hint)
        if isinstance(test, Literal):
            return body if test.value else orelse
        return Conditional(joined_type(node.col_offset, body, orelse), test, body, orelse)

    def _select(self, test: Expr, body: Expr, orelse: Expr) -> Conditional:
        """An elementwise choice; without an op `where` only a loop can compute it."""
        found = self.first_match(self.callees.behind_syntax("where"), [test, body, orelse])
        if found is None or self.scope.own_base == "where":
            return Conditional(TENSOR, test, body, orelse)
        callee, bound = found
        return Conditional(TENSOR, test, body, orelse, callee.c_entry, callee.family, bound)
