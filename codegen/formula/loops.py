"""Can an expression be computed element by element, in one loop."""

from __future__ import annotations

from ..spec.schema_types import Type
from .callees import INTRINSIC, Callees
from .formula import (
    Attribute,
    AttributeOf,
    Call,
    Conditional,
    Expr,
    Gradient,
    Literal,
    Name,
    Operator,
)


def why_not_loop(expr: Expr, callees: Callees) -> str:
    """The reason why an expression cannot be one elementwise loop, or "".

    The caller answers for the shapes: that every tensor in it broadcasts to one shape.
    """
    own = _why_not_step(expr, callees)
    if own:
        return own
    return next(filter(None, (why_not_loop(child, callees) for child in expr.children())), "")


def _why_not_step(expr: Expr, callees: Callees) -> str:
    match expr:
        case Name() | Gradient():
            return _why_not_value(expr.type)
        case Literal(value=value):
            return "" if isinstance(value, (bool, int, float)) else f"{value!r} is no real number"
        case Operator(symbol=symbol, resolved=resolved):
            return _why_not_operator(symbol, resolved, callees)
        case Call(family=family, c_entry=c_entry, function=function):
            fits = family == INTRINSIC or callees.loops(c_entry)
            return "" if fits else f"{function} is not computed element by element"
        case Conditional():
            return ""
        case Attribute(attribute=attribute) | AttributeOf(attribute=attribute):
            return f"a loop has no '.{attribute}'"
    return f"a loop has no {expr.type}"


def _why_not_value(declared: Type) -> str:
    if declared.is_tensor and not declared.optional:
        return ""
    return "" if declared.is_number else f"a loop takes tensors and numbers, not {declared}"


def _why_not_operator(symbol: str, resolved: str, callees: Callees) -> str:
    if symbol in ("@", "is"):
        return f"'{symbol}' is not computed element by element"
    if resolved and not callees.loops(resolved):
        return f"'{symbol}' is {resolved}, which is not computed element by element"
    return ""
