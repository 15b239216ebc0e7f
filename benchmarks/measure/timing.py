"""Interleaved timing of contestants in one process.

Machines are shared and noisy: one contestant timed after the other compares two moments as much as two programs. Here
every round times each contestant once, in turn, and what is quoted are ratios of minima and of medians over the rounds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Run = Callable[[], object]
Clock = Callable[[], float]
# The time on the processor, of all threads of the process, does not count while others hold the core.
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


def interleave(
    contestants: dict[str, Run],
    rounds: int = 15,
    target: float = 0.01,
    before: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of one call of each contestant, in each round; a sample repeats the call until it lasts about `target`.

    `before` is called at the beginning of each round.
    """
    repeats = {name: calibrate(run, target) for name, run in contestants.items()}
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    with collector_paused():
        for _ in range(rounds):
            before()
            for name, run in contestants.items():
                samples[name].append(sample(run, repeats[name], clock))
    return samples


@contextmanager
def collector_paused() -> Iterator[None]:
    """Python's collector would run at the expense of whoever happens to be timed."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def calibrate(run: Run, target: float) -> int:
    """How often the call is repeated so that it lasts about `target` seconds. It must have run before."""
    repeats = 1
    while True:
        elapsed = sample(run, repeats) * repeats
        if target <= elapsed < 20 * target:  # perhaps only because others held the core
            elapsed = min(elapsed, sample(run, repeats) * repeats)
        if elapsed >= target or repeats > 10_000_000:
            return repeats
        repeats = max(repeats * 2, int(repeats * target / max(elapsed, 1e-9) * 0.9))


def sample(run: Run, repeats: int, clock: Clock = time.perf_counter) -> float:
    start = clock()
    for _ in range(repeats):
        run()
    return (clock() - start) / repeats


def readable(number: float, unit: str = "s") -> str:
    """A number of seconds or bytes with a unit that keeps three digits.

    >>> readable(2.5e-6), readable(480.0, "bytes")
    ('2.5 us', '480 bytes')
    """
    if unit != "s":
        return f"{number / 2**20:.3g} MiB" if unit == "bytes" and number >= 2**20 else f"{number:.3g} {unit}"
    for name, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if number >= scale:
            return f"{number / scale:.3g} {name}"
    return f"{number / 1e-9:.3g} ns"
