"""Cost of a way to compute the gradients of a node: arrays kept until backward, and steps computed there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ..formula.formula import Call, Conditional, Expr, Literal, Name, Operator, is_call_of
from ..model import Forward, GradientRule

# Prices per element of the result. One array kept alive, and read back from memory, is the unit; beside it a step of
# arithmetic in a loop is little, a function of libm a lot.
KEPT_ARRAY = 1.0
ARITHMETIC = 0.1
DIVISION = 0.3
ROOT = 0.3
FUNCTION = 1.5
ARRAY_FUNCTION = 2.0  # a forward that is no formula: a pass over the array or more
# An op in place that saves its result cannot work on a view directly (the view would hold the node that holds it).
RESULT_OF_INPLACE = 0.2
# One that saves what it overwrites has to copy it first.
COPY_OF_INPLACE = 0.4


def _all(words: str, price: float) -> dict[str, float]:
    return dict.fromkeys(words.split(), price)


# Ops, ufuncs and operators; what is not here is a function: exp, erf, a helper.
_PRICES: Mapping[str, float] = MappingProxyType(
    _all("expand reshape view restore_dims mT mT_matrix T t transpose permute unsqueeze squeeze positive", 0)
    | _all("add sub subtract mul multiply neg negative square abs absolute sgn sign real", ARITHMETIC)
    | _all("conj conjugate conj_physical conj_complex maximum minimum where copysign floor ceil trunc rint", ARITHMETIC)
    | _all("eq ne lt le gt ge equal not_equal less less_equal greater greater_equal isnan", ARITHMETIC)
    | _all("logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not zeros_like", ARITHMETIC)
    | _all("+ - * & | ^ ~ == != < <= > >= and or not", ARITHMETIC)
    | _all("div divide true_divide reciprocal remainder floor_divide / // %", DIVISION)
    | _all("sqrt rsqrt", ROOT)
)


def is_cheap(function: str) -> bool:
    """Is a function not worth sparing."""
    return _PRICES.get(function, FUNCTION) <= ARITHMETIC


@dataclass(frozen=True)
class Way:
    """One formula for each gradient of a node."""

    gradients: tuple[GradientRule, ...]
    is_written: bool  # what the author wrote is as it was written

    @cached_property
    def steps(self) -> tuple[Expr, ...]:
        """Every step once: what occurs twice is computed once."""
        return tuple(dict.fromkeys(part for g in self.gradients for part in g.formula.expr.walk()))

    @cached_property
    def kept(self) -> frozenset[str]:
        """Tensors that the node would keep."""
        return frozenset(part.name for part in self.steps if isinstance(part, Name) and part.type.name == "Tensor")


@dataclass(frozen=True)
class Prices:
    """The prices of one variant of an op."""

    forward: Forward
    c_entry: str
    arguments: tuple[str, ...]
    output: str  # what formulas call the result
    is_inplace: bool  # the op has an in-place form
    is_reduction: bool  # the result is small beside the input

    def of(self, way: Way) -> float:
        total = sum(map(self.of_step, way.steps)) + sum(map(self.of_kept, way.kept))
        return round(total, 6)  # what costs the same shall be equal

    def of_kept(self, name: str) -> float:
        if name == self.output:
            return (0.0 if self.is_reduction else KEPT_ARRAY) + (RESULT_OF_INPLACE if self.is_inplace else 0.0)
        return KEPT_ARRAY + (COPY_OF_INPLACE if self.is_inplace and name == "self" else 0.0)

    def of_step(self, step: Expr) -> float:
        return self.of_forward if self.is_again(step) else _price(step)

    def is_again(self, step: Expr) -> bool:
        """Does the step compute the op again, of its own arguments."""
        return is_call_of(step, self.c_entry, self.arguments)

    @cached_property
    def of_forward(self) -> float:
        if self.forward.kind == "ufunc":
            return _PRICES.get(self.forward.ufunc, FUNCTION)
        if self.forward.formula is None:
            return ARRAY_FUNCTION
        return sum(map(_price, dict.fromkeys(self.forward.formula.expr.walk())))


def _price(step: Expr) -> float:
    if not step.type.is_tensor:
        return 0.0
    match step:
        case Call(function=function):
            return _PRICES.get(function, FUNCTION)
        case Operator(symbol="neg") | Operator(symbol="**", operands=(_, Literal(value=2))):
            return ARITHMETIC
        case Operator(symbol=symbol):
            return _PRICES.get(symbol, FUNCTION)
        case Conditional(test=test):
            return ARITHMETIC if test.type.is_tensor else 0.0
    return 0.0
