"""Constraints that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.distributions.constraints.base import Constraint
from gradsmith.generated import cat, stack
from gradsmith.generated.tensor import Tensor

__all__ = ["MixtureSameFamilyConstraint"]


def _require(constraint: Any, name: str) -> Constraint:
    if not isinstance(constraint, Constraint):
        raise TypeError(f"{name} must be a Constraint, got {type(constraint).__name__}")
    return constraint


def _all_after(checked: Tensor, kept: int, expected: int) -> Tensor:
    """Whether all is right in the dimensions after the first `kept` ones."""
    if kept < 0:
        raise ValueError(f"Expected value.dim() >= {expected} but got {expected + kept}")
    return checked.all(tuple(range(kept, checked.ndim))) if kept < checked.ndim else checked


class _IndependentConstraint(Constraint):
    """A constraint that holds for all elements along dimensions that make up one value."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise ValueError(f"reinterpreted_batch_ndims must be an int >= 0, got {reinterpreted_batch_ndims!r}")
        self.base_constraint = _require(base_constraint, "base_constraint")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        checked = self.base_constraint.check(value)
        return _all_after(checked, checked.ndim - self.reinterpreted_batch_ndims, self.event_dim)

    def _arguments(self) -> str:
        return f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value has to be in that of all components.

    Parameters
    ----------
    base_constraint : Constraint
        The support of the components.
    """

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = _require(base_constraint, "base_constraint")
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether values of the components are isolated points."""
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        """How many dimensions make up one value of a component."""
        return int(self.base_constraint.event_dim)

    def check(self, value: Tensor) -> Tensor:
        """Which values are in the support of all components."""
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        checked = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return _all_after(checked, value.ndim - self.event_dim, self.event_dim)

    def _arguments(self) -> str:
        return repr(self.base_constraint)


class _Several(Constraint):
    """Several constraints, each for a part of a tensor along a dimension."""

    cseq: list[Constraint]

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        self.cseq = [_require(one, "each element of cseq") for one in cseq]
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(one.is_discrete for one in self.cseq)

    def _arguments(self) -> str:
        return ""

    def _require_dim(self, value: Tensor) -> None:
        if not -value.ndim <= self.dim < value.ndim:
            raise ValueError(f"dim {self.dim} is out of range for a value with {value.ndim} dimensions")


class _Cat(_Several):
    """Constraints of parts that were joined by `cat`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> int:
        return max(int(one.event_dim) for one in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        parts = value.split_with_sizes(self.lengths, self.dim)
        return cat([one.check(part) for one, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Several):
    """Constraints of parts that were joined by `stack`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:
        dim = max(int(one.event_dim) for one in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        parts = value.unbind(self.dim)
        if len(parts) != len(self.cseq):
            raise ValueError(f"there are {len(self.cseq)} constraints, and {len(parts)} parts along dim {self.dim}")
        return stack([one.check(part) for one, part in zip(self.cseq, parts)], self.dim)
