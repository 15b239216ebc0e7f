"""What a node keeps for the backward pass: the inputs, the result, or what is cheaper to compute again.

The formulas of one node can often be written in more than one way: ``exp(self)`` is ``result``. Each way is priced, and
the cheapest is taken for all gradients of the node together, since what one of them keeps is free for the others.
A formula that the author wrote is left as it is: reading `result` there, or not, decides which tensors may be changed
in place before backward, and that is the author's word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .symbolic import Apply, Choice, Operation, Product, Sum, Symbolic, Variable

# Prices per element of the result. One array kept alive, and read back from memory, is the unit; beside it a step of
# arithmetic in a loop is little, a function of libm a lot.
KEPT_ARRAY = 1.0
ARITHMETIC = 0.1
DIVISION = 0.3
ROOT = 0.3
FUNCTION = 1.5
# An op in place that saves its result cannot work on a view directly (the view would hold the node that holds it).
RESULT_OF_INPLACE = 0.2

_CHEAP = frozenset({"abs", "conj", "maximum", "minimum", "neg", "real", "sgn", "sign", "square", "where"})
_ROOTS = frozenset({"sqrt", "rsqrt"})


@dataclass(frozen=True)
class Plan:
    """The formulas of a node that were chosen, and why what they read is what is kept."""

    formulas: tuple[Symbolic, ...]
    reason: str


@dataclass(frozen=True)
class Prices:
    """What costs something in one entry."""

    tensors: frozenset[str]  # arguments that are arrays
    kept: frozenset[str]  # what formulas of the author's keep anyway
    is_inplace: bool

    def of(self, formulas: Iterable[Symbolic]) -> float:
        formulas = tuple(formulas)
        names = (saved_names(formulas) & (self.tensors | {"result"})) - self.kept
        result = RESULT_OF_INPLACE if "result" in names and self.is_inplace else 0.0
        return KEPT_ARRAY * len(names) + result + sum(map(_price, _steps(formulas)))

    def cheapest(self, alternatives: Sequence[Sequence[Symbolic]]) -> Plan:
        """One formula for each gradient; of equal ones, those that come first."""
        ways = list(itertools.product(*alternatives))
        best = min(ways, key=self.of)
        return Plan(best, self._reason(best, ways))

    def _reason(self, best: tuple[Symbolic, ...], ways: list[tuple[Symbolic, ...]]) -> str:
        others = [way for way in ways if way != best]
        if not others:
            return ""
        kept = saved_names(best) & (self.tensors | {"result"})
        shown = " and ".join(sorted(kept)) or "nothing"
        if "result" not in kept:
            more = any(saved_names(way) > kept for way in others)
            return f"saves {shown}: " + (
                "the result would be one array more" if more else "the result would not spare enough"
            )
        spared = sorted({name for way in others for name in functions(way)} - functions(best))
        return f"saves {shown}: " + (
            f"{' and '.join(spared)} need not be computed again" if spared else "fewer steps than from the inputs"
        )


def saved_names(formulas: Iterable[Symbolic]) -> frozenset[str]:
    """Arguments and results that the formulas read."""
    found = (part.name for tree in formulas for part in tree.walk() if isinstance(part, Variable))
    return frozenset(found) - {"grad"}


def functions(formulas: Iterable[Symbolic]) -> set[str]:
    """Functions in the formulas that are worth sparing."""
    steps = (step for step in _steps(formulas) if isinstance(step, Apply))
    return {step.function for step in steps if step.function not in _CHEAP}


def _steps(formulas: Iterable[Symbolic]) -> list[Symbolic]:
    """Every step once: what occurs twice is computed once."""
    return list(dict.fromkeys(part for tree in formulas for part in tree.walk()))


def _price(step: Symbolic) -> float:
    match step:
        case Apply(function=function):
            return ARITHMETIC if function in _CHEAP else ROOT if function in _ROOTS else FUNCTION
        case Operation(symbol=symbol):
            return FUNCTION if symbol == "**" else ARITHMETIC
        case Choice():
            return ARITHMETIC
        case Sum(terms=terms):
            return ARITHMETIC * (len(terms) - 1)
        case Product(factors=factors, coefficient=coefficient):
            exponents = [exponent for _, exponent in factors]
            times = sum(e for e in exponents if e > 0) + (abs(coefficient) != 1) - 1
            return ARITHMETIC * max(times, 0) + DIVISION * -sum(e for e in exponents if e < 0)
    return 0.0
