"""Where a sequence repeats itself: loops of Python, which a trace has unrolled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.int64]]

WINDOW = 16  # numbers that have to recur before a period is looked into
FEWEST_ITERATIONS = 6
SHORTEST = 48  # numbers in all iterations together
MOST_PERIODS = 12  # that are tried, the most frequent ones
MOST_FOUND = 64


@dataclass(frozen=True)
class Period:
    """`count` times the same `length` numbers, from `start` on."""

    start: int
    length: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.length * self.count


def periods(numbers: Numbers) -> list[Period]:
    """Stretches of a sequence that repeat themselves, the longest first; no two of them overlap."""
    found: list[Period] = []
    parts = [(0, len(numbers))]
    while parts and len(found) < MOST_FOUND:
        first, last = parts.pop()
        period = _longest(numbers[first:last])
        if period is not None:
            period = Period(first + period.start, period.length, period.count)
            found.append(period)
            parts += [(first, period.start), (period.end, last)]
    return found


def _longest(numbers: Numbers) -> Period | None:
    best: Period | None = None
    for length in _candidates(numbers):
        period = _longest_of(numbers, length)
        if period is not None and (best is None or _is_better(period, best)):
            best = period
    return best


def _is_better(one: Period, other: Period) -> bool:
    return (one.length * one.count, -one.length) > (other.length * other.count, -other.length)


def _candidates(numbers: Numbers) -> list[int]:
    """Distances at which windows recur, the most frequent first."""
    count = len(numbers) - WINDOW + 1
    if len(numbers) < SHORTEST or count < 2:
        return []
    windows = np.zeros(count, np.uint64)
    for shift in range(WINDOW):
        windows = windows * np.uint64(0x9E3779B97F4A7C15) + numbers[shift : shift + count].astype(np.uint64)
    order = np.argsort(windows, kind="stable")
    recur = windows[order[1:]] == windows[order[:-1]]
    distances, counts = np.unique((order[1:] - order[:-1])[recur], return_counts=True)
    return [int(one) for one in distances[np.argsort(-counts, kind="stable")][:MOST_PERIODS]]


def _longest_of(numbers: Numbers, length: int) -> Period | None:
    """The longest stretch of one period."""
    if length * FEWEST_ITERATIONS > len(numbers):
        return None
    alike = np.concatenate([[False], numbers[length:] == numbers[:-length], [False]])
    edges = np.flatnonzero(alike[1:] != alike[:-1])
    starts, runs = edges[::2], edges[1::2] - edges[::2]
    if not len(runs):
        return None
    longest = int(np.argmax(runs))
    count = int(runs[longest]) // length + 1
    if count < FEWEST_ITERATIONS or count * length < SHORTEST:
        return None
    return Period(int(starts[longest]), length, count)
