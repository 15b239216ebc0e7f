"""What a row of the tables is: its name, the programs of its contestants, and the bar that it should reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Run = Callable[[], Any]


class Program(NamedTuple):
    """What one contestant does in a row.

    `results` runs it once and gives what all contestants must agree on: values, and gradients. None where each draws
    random numbers of its own, or where there is nothing to compare.
    """

    run: Run
    results: Callable[[], Sequence[Array]] | None


Builders = dict[str, Callable[[], Program]]
Probes = dict[str, Callable[[], float]]


@dataclass(frozen=True)
class Case:
    """One row: `make(*arguments)` gives a builder for each contestant, `make(*small)` the same program, small."""

    name: str
    make: Callable[..., Builders]
    arguments: tuple[Any, ...] = ()
    small: tuple[Any, ...] | None = None
    must: str = ""
    aim: str = ""
    per: int = 1  # operations in one call
    rounds: int = 15
    threads: tuple[int, ...] = (1,)
    tolerance: float = 1e-3  # of the largest element; float32 sums in another order differ by less
    series: str = (
        ""  # the line of a plot against sizes that the row is a point of; "plot: line" where there are several
    )
    size: int = 0
    objective: str = ""  # of a gradient: the row whose time it is set in relation to

    def builders(self, small: bool = False) -> Builders:
        return self.make(*(self.arguments if self.small is None or not small else self.small))


@dataclass(frozen=True)
class Probe:
    """A row that is no call in a loop: each contestant's function gives a number, mostly from a fresh process."""

    name: str
    make: Callable[..., Probes]
    arguments: tuple[Any, ...] = ()
    small: tuple[Any, ...] | None = None
    unit: str = "s"
    must: str = ""
    aim: str = ""
    rounds: int = 3
    on_request: bool = False  # takes minutes, or needs what builds the package
    series: str = ""
    size: int = 0
    objective: str = ""
    per: int = 1
    threads: tuple[int, ...] = field(default=(1,), init=False)

    def probes(self, small: bool = False) -> Probes:
        return self.make(*(self.arguments if self.small is None or not small else self.small))


Row = Case | Probe

BAR = re.compile(r"(?P<other>[a-z][a-z ]*?) (?:(?P<over>1)/)?(?P<number>[\d.]+)$")


def bars(text: str) -> dict[str, float]:
    """Contestant -> the ratio that is asked for: ``"torch 1/12, numpy 0.5"``.

    >>> bars("torch 1/4, by hand 1.15")
    {'torch': 0.25, 'by hand': 1.15}
    """
    found = {}
    for part in filter(None, text.split(", ")):
        match = BAR.match(part)
        if match is None:
            raise ValueError(f"{part!r} is no bar; expected a contestant and a ratio, such as 'torch 1/4'")
        number = float(match["number"])
        found[match["other"]] = 1 / number if match["over"] else number
    return found


def as_array(value: Any) -> Array:
    """A copy of what a tensor or array of any contestant holds."""
    if hasattr(value, "detach"):
        value = value.detach()
        value = (value.to_dense() if getattr(value, "is_sparse", False) else value).numpy()
    return np.array(value)


def arrays_of(value: Any) -> list[Array]:
    """The arrays in a result: of tuples, lists and dicts in their order; None counts for nothing."""
    if value is None:
        return []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_of(part)]
    return [as_array(value)]
