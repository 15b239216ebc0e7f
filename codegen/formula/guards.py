"""On whose account a formula reads something: `grad_input_mask` may rule it out.

``x if grad_input_mask[0] else None`` needs x only when the gradient of the first input is asked for, so that a call
whose first input requires none need not save it.
"""

from __future__ import annotations

from collections.abc import Callable

from .formula import Conditional, Expr, IsWanted, Operator

Inputs = frozenset[str]


def inputs_reading(expr: Expr, matches: Callable[[Expr], bool], inputs: Inputs) -> Inputs:
    """Inputs one of which must be asked for, so that a formula for `inputs` reads what `matches`."""
    if matches(expr):
        return inputs
    if isinstance(expr, Conditional):
        parts = [(expr.test, inputs), (expr.body, _asked(expr.test, inputs, True))]
        parts.append((expr.orelse, _asked(expr.test, inputs, False)))
    else:
        parts = [(child, inputs) for child in expr.children()]
    return frozenset().union(*(inputs_reading(part, matches, of) for part, of in parts))


def _asked(test: Expr, inputs: Inputs, holds: bool) -> Inputs:
    """Inputs one of which is asked for when `test` holds (or does not)."""
    match test:
        case IsWanted(input=name) if holds:
            return inputs & {name}
        case Operator(symbol="not", operands=(operand,)):
            return _asked(operand, inputs, not holds)
        case Operator(symbol="and" | "or" as symbol, operands=operands):
            found = [_asked(operand, inputs, holds) for operand in operands]
            all_hold = (symbol == "and") is holds
            return min(found, key=len) if all_hold else frozenset().union(*found)
    return inputs
