"""The proof of one entry: which checks ran, and their results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .mutants.tally import Tally

if TYPE_CHECKING:
    from .coverage.gap import Gap
    from .samples import Array

# Properties named in a line of the report, in this order.
PROPERTIES = (
    "value", "reverse", "forward", "double", "complex", "in-place", "out", "copy", "undefined", "shapes", "layouts",
    "float32", "constants", "refusals", "points", "special", "random", "saved", "batching", "varied",
)  # fmt: skip

NOTICEABLE = 1e-6  # beside the values; a gradient that is smaller would not be missed


@dataclass(frozen=True)
class Failure:
    """A comparison that did not hold."""

    subject: str  # what was compared: "gradient of 'self'"
    setting: str  # for which arguments: "sample 1, complex128: {self: real(3, 4)}"
    problem: str  # what is wrong, with the numbers


class Compared(NamedTuple):
    """A gradient that is not zero, and was compared."""

    sample: int
    input: str
    mode: str  # "reverse" or "forward"
    dtype: str


@dataclass
class Proof:
    """Comparisons made for one entry, counted by property, and those that did not hold.

    A property that could not be tried here is in `not_run` with the reason, and never counts as proven. An entry that
    holds is proven when nothing is missing in what ran.
    """

    key: str  # add.alpha
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    resolution: dict[str, float] = field(default_factory=dict)  # property -> smallest relative error found
    compared: set[Compared] = field(default_factory=set)
    gaps: list[Gap] = field(default_factory=list)
    mutants: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    is_kept: bool = False  # of an earlier run, on which nothing that it depends on has changed

    @property
    def holds(self) -> bool:
        return not self.failures

    @property
    def is_proven(self) -> bool:
        return self.holds and not self.missing

    @property
    def missing(self) -> list[str]:
        """Faults that the checks could not have noticed, and samples with which they would."""
        return [*map(str, self.gaps), *map(str, self.mutants.survivors)]

    @property
    def tried(self) -> tuple[str, ...]:
        return tuple(prop for prop in PROPERTIES if self.counts[prop])

    def compare(
        self,
        prop: str,
        subject: str,
        setting: str,
        found: Any,
        expected: Any,
        tolerance: float,
        terms: float | None = None,
    ) -> bool:
        """Count one comparison of two arrays.

        The tolerance is relative to the expected number and to the magnitude of the `terms` that it was made of, by
        default the largest number beside it: what is of the order of 1e-6 is compared as well as what is of the order
        of one.
        """
        one, other = np.asarray(found), np.asarray(expected)
        magnitude = largest(other) if terms is None else terms
        return self.expect(prop, subject, setting, difference(one, other, tolerance, magnitude))

    def compare_derivative(
        self,
        mode: str,
        subject: str,
        setting: str,
        found: Any,
        expected: Any,
        tolerance: float,
        terms: float,
        known: float = 0.0,
    ) -> bool:
        """Count a comparison with something that does not come from the entry, and how small an error it would find.

        `known` is the relative error that the expected numbers may have themselves.
        """
        size = largest(np.asarray(expected))
        if size > NOTICEABLE * terms:
            reached = max(known, tolerance * (1 + terms / size))
            self.resolution[mode] = min(reached, self.resolution.get(mode, reached))
        return self.compare(mode, subject, setting, found, expected, tolerance, terms)

    def expect(self, prop: str, subject: str, setting: str, problem: str) -> bool:
        """Count one comparison; `problem` says what is wrong, or is empty."""
        assert prop in PROPERTIES, prop
        self.counts[prop] += 1
        if problem:
            self.failures.append(Failure(subject, setting, problem))
        return not problem

    def note_compared(self, compared: Compared, expected: Array, size: float) -> None:
        """Remember a gradient that was compared, if anything in it could have differed beside values of that size."""
        if largest(expected) > NOTICEABLE * size:
            self.compared.add(compared)


def difference(found: Array, expected: Array, tolerance: float, terms: float) -> str:
    """Describe how `found` differs, with the numbers where it differs most; "" when it agrees."""
    if found.shape != expected.shape:
        return f"has shape {found.shape}, expected {expected.shape}"
    excess = excess_of(found, expected, tolerance, terms)
    if not excess.size or not np.max(excess) > 0:
        return ""
    place = tuple(int(n) for n in np.unravel_index(np.argmax(excess), excess.shape))
    one, other = found[place], expected[place]
    where = f" at {list(place)}" if place else ""
    return f"{one!s} instead of {other!s}{where}, off by {deviation(one, other):.3g}"


def largest(array: Array) -> float:
    """Magnitude of the largest finite number."""
    if array.dtype.kind not in "fciu":
        return 0.0
    numbers = np.abs(array[np.isfinite(array)])
    return float(np.max(numbers)) if numbers.size else 0.0


def excess_of(found: Array, expected: Array, tolerance: float, terms: float) -> Array:
    """By how much the deviation of each element exceeds the tolerance; NaN and infinity equal themselves."""
    if found.dtype.kind not in "fciu" or expected.dtype.kind not in "fciu":
        return np.asarray(found != expected, np.float64)
    with np.errstate(all="ignore"):
        gap = np.abs(np.subtract(found, expected, dtype=np.result_type(found, expected, np.float64)))
        allowed = tolerance * (terms + np.abs(expected).astype(np.float64))
        excess = np.where(gap <= allowed, 0.0, np.where(np.isfinite(gap), gap, np.inf))
    same = (found == expected) | (is_nan(found) & is_nan(expected))
    return np.where(same, 0.0, np.where(np.isfinite(expected), excess, np.inf))


def is_nan(array: Array) -> Array:
    return np.asarray(array != array)


def deviation(one: Any, other: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.abs(np.complex128(one) - np.complex128(other)))  # infinite where Python's abs() overflows
