"""Waiting until the processor has cores to spare: what others run at the same time would be measured too."""

from __future__ import annotations

import time
from pathlib import Path

STAT = Path("/proc/stat")
INTERVAL = 0.05


def busy_cores(interval: float = INTERVAL) -> float:
    """How many cores were at work during the interval; 0 where the system does not tell."""
    if not STAT.exists():
        return 0.0
    busy, total, cores = _ticks()
    time.sleep(interval)
    busy_then, total_then, _ = _ticks()
    return cores * (busy_then - busy) / max(total_then - total, 1)


def _ticks() -> tuple[int, int, int]:
    """Ticks at work and altogether since the start, and the number of cores."""
    lines = STAT.read_text().splitlines()
    user, nice, system, idle, waiting, *rest = map(int, lines[0].split()[1:9])
    cores = sum(line.startswith("cpu") for line in lines) - 1
    busy = user + nice + system + sum(rest)
    return busy, busy + idle + waiting, cores


class Patience:
    """Waits for idle cores, at most for a number of seconds in all, and remembers what it could not wait for."""

    def __init__(self, cores_needed: int, seconds: float) -> None:
        self.cores_needed, self.left = cores_needed, seconds
        self.loads: list[float] = []

    def wait(self) -> None:
        while True:
            busy = busy_cores()
            idle_enough = busy <= max(_cores() - self.cores_needed, 0) + 0.3
            if idle_enough or self.left <= 0:
                self.loads.append(busy)
                return
            pause = min(0.25, self.left)
            time.sleep(pause)
            self.left -= pause + INTERVAL

    @property
    def load(self) -> float:
        """Cores that others kept busy at the beginning of a round, on average."""
        return sum(self.loads) / len(self.loads) if self.loads else 0.0


def _cores() -> int:
    return _ticks()[2] if STAT.exists() else 1
