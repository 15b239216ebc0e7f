"""What a timer finds: the seconds that a statement takes, and how they are spread."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["Measurement", "select_unit", "unit_to_english"]

_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1.0, "second")}
# Times that are spread more than this, as a part of their median, deserve a warning.
_WIDE = 0.1


def unit_to_english(unit: str) -> str:
    """``"microsecond"`` for ``"us"``."""
    return _UNITS[unit][1]


def select_unit(seconds: float) -> tuple[str, float]:
    """The unit in which a time is read best, and its seconds."""
    name = next((name for name, (size, _) in reversed(_UNITS.items()) if seconds >= size), "ns")
    return name, _UNITS[name][0]


@dataclass(frozen=True)
class Measurement:
    """Times of a statement, of which each is that of several runs.

    Parameters
    ----------
    number_per_run : int
        How often the statement ran for each of the times.
    raw_times : sequence of float
        In seconds, of all these runs together.
    stmt, setup : str
        What was measured, and what ran before.
    label, sub_label, description, env : str, optional
        Names for tables: of the table, the row and the column, and a note that tells rows of one name apart.
    num_threads : int
        How many threads there were for it.
    """

    number_per_run: int
    raw_times: Sequence[float]
    stmt: str = "pass"
    setup: str = "pass"
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1
    metadata: dict[str, object] | None = field(default=None, compare=False)

    @property
    def times(self) -> list[float]:
        """Seconds of one run of the statement."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        """The time in the middle: a few slow runs do not move it."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean time."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """How far the times in the middle half lie apart."""
        times = sorted(self.times)
        return _quantile(times, 0.75) - _quantile(times, 0.25)

    @property
    def has_warnings(self) -> bool:
        """Whether the times are spread so far that they say little."""
        return self.iqr > _WIDE * self.median

    @property
    def title(self) -> str:
        """What was measured, by its names or as it stands."""
        named = ": ".join(part for part in (self.label, self.sub_label, self.description) if part)
        return named or self.stmt

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement of the times of all that were taken of the same."""
        groups: dict[tuple[object, ...], list[Measurement]] = {}
        for one in measurements:
            key = (one.stmt, one.setup, one.label, one.sub_label, one.description, one.env, one.num_threads)
            groups.setdefault(key, []).append(one)
        return [Measurement(1, [t for one in group for t in one.times], *key) for key, group in groups.items()]  # type: ignore[arg-type]

    def __repr__(self) -> str:
        unit, size = select_unit(self.median)
        count = len(self.raw_times)
        runs = f"{self.number_per_run} run{'s' * (self.number_per_run > 1)} per measurement"
        lines = [self.title, f"setup: {self.setup}"] if self.setup != "pass" else [self.title]
        if count == 1:
            lines += [f"  {self.median / size:.2f} {unit}"]
        else:
            lines += [f"  Median: {self.median / size:.2f} {unit}", f"  IQR:    {self.iqr / size:.2f} {unit}"]
        lines += [
            f"  {count} measurement{'s' * (count > 1)}, {runs}, {self.num_threads} thread{'s' * (self.num_threads > 1)}"
        ]
        if self.has_warnings:
            lines += ["  WARNING: the interquartile range is more than a tenth of the median."]
        return "\n".join(lines)


def _quantile(ordered: Sequence[float], part: float) -> float:
    """The value below which this part of the others lie, between neighbours by a straight line."""
    place = part * (len(ordered) - 1)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return ordered[before] + (place - before) * (ordered[after] - ordered[before])
