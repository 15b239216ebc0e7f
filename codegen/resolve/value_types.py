"""Types of what is put together from typed parts, and which names a test proves not to be None."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace

from ..formula.callees import expect_conversion, wider
from ..formula.formula import Attribute, Expr, IsUndefined, Literal, Name, Operator, Subscript, Variable
from ..formula.scope import INT
from ..spec.errors import Problem
from ..spec.schema_types import Type


def has_tensor(expr: Expr) -> bool:
    return expr.type.name == "Tensor"


def number_type(node: ast.BinOp, symbol: str, left: Expr, right: Expr) -> Type:
    """Type of an operator between values that are no tensors."""
    for side, operand in ((node.left, left), (node.right, right)):
        if not operand.type.is_number:
            what = f"{operand.type.plain}, which is no number"
            hint = "Test it with 'is None' first." if operand.type.required.is_number else ""
            raise Problem(f"applies '{symbol}' to {what}", side.col_offset, hint)
    result = wider(left.type, right.type)
    return Type("float") if symbol == "/" and result == INT else result


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow,
}  # fmt: skip


def constant_of(expr: Expr) -> float | None:
    """The real number that an expression of constants is; None of any other. Errors of arithmetic are Python's."""
    match expr:
        case Literal(value=bool() | int() | float() as value):
            return float(value)
        case Operator(symbol=symbol, operands=(left, right)) if symbol in _ARITHMETIC:
            values = constant_of(left), constant_of(right)
            if values[0] is None or values[1] is None:
                return None
            found = _ARITHMETIC[symbol](values[0], values[1])
            if isinstance(found, complex):
                raise ArithmeticError("it is no real number")
            return found
    return None


def is_list_arithmetic(symbol: str, left: Type, right: Type) -> bool:
    """``a + b`` of two lists, ``a * 3`` of one: both make a longer list."""
    if not left.is_list or left.optional or right.optional:
        return False
    return (symbol == "*" and right == INT) or (symbol == "+" and right.is_list and right.name == left.name)


def list_sum(left: Type, right: Type) -> Type:
    return replace(left, length=0, optional_items=left.optional_items or right.optional_items)


def are_comparable(symbol: str, left: Type, right: Type) -> bool:
    if left.is_number and right.is_number:
        return True
    if left.is_list != right.is_list:
        return False
    same = left.name == right.name or (left.required.is_number and right.required.is_number)
    return same and symbol in ("==", "!=")


def joined_type(offset: int, body: Expr, orelse: Expr) -> Type:
    """The type of both branches together."""
    left, right = body.type.plain, orelse.type.plain
    optional = left.optional or right.optional or "None" in (left.name, right.name)
    if left.name == "None":
        return replace(right, optional=right.name != "None")
    if right.name == "None":
        return replace(left, optional=True)
    if left.is_number and right.is_number:
        return left if left == right else wider(left, right)
    if left.required == right.required:
        return replace(left, optional=optional)
    if expect_conversion(body, right) or expect_conversion(orelse, left):
        return right if expect_conversion(body, right) else left
    raise Problem(f"gives {left} or {right}: the two sides of 'if' differ", offset)


# A name, the key of a gradient, or an item of a list.
Present = str | Subscript


def names_present(test: Expr, holds: bool) -> tuple[Present, ...]:
    """The names that are not None when `test` holds (or does not hold)."""
    match test:
        case Operator(symbol="not", operands=(operand,)):
            return names_present(operand, not holds)
        case Operator(symbol="and", operands=operands) if holds:
            return tuple(name for o in operands for name in names_present(o, True))
        case Operator(symbol="or", operands=operands) if not holds:
            return tuple(name for o in operands for name in names_present(o, False))
        case IsUndefined(index=index) if not holds:
            return (gradient_name(index),)
        case Attribute(attribute="is_none", owner=owner) if not holds:
            return (owner,)
        case Operator(symbol="is", operands=(Name(name=name) | Variable(name=name), _)) if not holds:
            return (name,)
        case Operator(symbol="is", operands=(Subscript() as item, _)) if not holds:
            return (item,)
    return ()


def gradient_name(index: int) -> str:
    """The key of a gradient in the set of names that are known not to be None."""
    return f"grads[{index}]"
