"""Constraints of numbers: intervals and integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsmith.distributions.constraints.base import Constraint
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    Parameter = Tensor | float

__all__: list[str] = []


class _Bounded(Constraint):
    """Base class of constraints with bounds, which their text shows."""

    def _arguments(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in vars(self).items() if name.endswith("_bound"))


class _Between(_Bounded):
    def __init__(self, lower_bound: Parameter, upper_bound: Parameter) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()


class _Above(_Bounded):
    def __init__(self, lower_bound: Parameter) -> None:
        self.lower_bound = lower_bound
        super().__init__()


class _Below(_Bounded):
    def __init__(self, upper_bound: Parameter) -> None:
        self.upper_bound = upper_bound
        super().__init__()


class _Real(Constraint):
    """All numbers, infinite ones too, but not NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value.eq(value)


class _GreaterThan(_Above):
    """Numbers above a bound."""

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    """Numbers that are at least a bound."""

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_Below):
    """Numbers below a bound."""

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two bounds, and these."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two bounds, and the lower one."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return value.eq(0) | value.eq(1)


class _IntegerInterval(_Between):
    """Integers between two bounds, and these."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Integers up to a bound."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)
