"""Formulas outside of a run of the engine: what `apply` would ask it is settled there.

Forward mode evaluates the formulas of gradients too. Everything it needs is requested, every gradient has arrived, and
nothing that was saved may be consumed.
"""

from __future__ import annotations

from collections.abc import Sequence

from .formula import Call, Conditional, Expr, IsUndefined, IsWanted, Literal, Operator, RunFact
from .scope import BOOL
from .substitute import rebuilt

_SETTLED = {IsWanted: True, IsUndefined: False}


def settled(expr: Expr) -> Expr:
    """The formula as it is outside of a run."""
    asks = any(isinstance(part, IsWanted | IsUndefined | RunFact) for part in expr.walk())
    return rebuilt(expr, _settled_part) if asks else expr


def _settled_part(part: Expr) -> Expr:
    match part:
        case IsUndefined(optional=True):
            return part
        case IsWanted() | IsUndefined():
            return Literal(BOOL, _SETTLED[type(part)])
        case RunFact(fact="retain_variables"):
            return Literal(BOOL, True)
        case Operator(symbol="and" | "or" | "not" as symbol, operands=operands) if part.type == BOOL:
            return folded(symbol, operands)
        case Conditional(test=Literal(value=value), body=body, orelse=orelse):
            return body if value else orelse
    return part


def folded(symbol: str, operands: Sequence[Expr]) -> Expr:
    """``and``, ``or`` or ``not`` of bools; a constant among them decides, or drops out."""
    known = [bool(o.value) for o in operands if isinstance(o, Literal)]
    if symbol == "not" and known:
        return Literal(BOOL, not known[0])
    decisive = symbol == "or"
    if symbol == "not" or not known:
        return Operator(BOOL, symbol, tuple(operands))
    if decisive in known:
        return Literal(BOOL, decisive)
    rest = [o for o in operands if not isinstance(o, Literal)]
    return rest[0] if rest else Literal(BOOL, not decisive)


def is_unknown(expr: Expr) -> bool:
    """Does the formula say, somewhere, that there is none yet."""
    return any(isinstance(part, Call) and part.function == "not_implemented" for part in expr.walk())
