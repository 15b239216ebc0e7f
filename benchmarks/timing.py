"""Interleaved timing of contestants in one process.

Machines are shared and noisy: one contestant timed after the other compares two moments as much as two programs. Here
every round times each contestant once, in turn, and what is quoted are ratios of minima and of medians over the rounds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Contestant = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds of one call over the rounds."""

    minimum: float
    median: float


def interleave(contestants: dict[str, Contestant], rounds: int = 15, target: float = 0.01) -> dict[str, Timing]:
    """Time each contestant once a round; a sample repeats the call until it lasts about `target` seconds."""
    repeats = {name: _calibrate(function, target) for name, function in contestants.items()}
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    collected = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, function in contestants.items():
                samples[name].append(_sample(function, repeats[name]))
    finally:
        if collected:
            gc.enable()
    return {name: Timing(min(times), statistics.median(times)) for name, times in samples.items()}


def _calibrate(function: Contestant, target: float) -> int:
    function()
    repeats = 1
    while True:
        elapsed = _sample(function, repeats) * repeats
        if elapsed >= target or repeats > 10_000_000:
            return repeats
        repeats = max(repeats * 2, int(repeats * target / max(elapsed, 1e-9) * 0.9))


def _sample(function: Contestant, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - start) / repeats


def readable(seconds: float) -> str:
    """Seconds with a unit that keeps three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
