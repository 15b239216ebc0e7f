"""Whether a row became slower: the ratio of two commits, and the noise that it must exceed.

In each round both commits are timed right after one another, so that a busy moment slows down both; of rows
with one thread the time on the processor is taken, not that of the clock on the wall. Of each launch (a pair of
processes) the lower quartiles are set in relation: what disturbs a sample can only make it longer. Processes of
the same program differ too, by where their memory lies: the spread of the launches is noise like that of the rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Launch = tuple[Sequence[float], Sequence[float]]  # seconds of the base and of the head, round by round

QUARTILE = 0.25
RESAMPLES = 400
ERRORS = 3.0  # standard errors that count as noise: chance exceeds them once in 740 rows


@dataclass(frozen=True)
class Verdict:
    """Time of the head as a part of the base's, and the noise of that number."""

    ratio: float
    noise: float
    threshold: float

    @property
    def regressed(self) -> bool:
        return self.ratio - 1 > max(self.noise, self.threshold)

    @property
    def improved(self) -> bool:
        return 1 - self.ratio > max(self.noise, self.threshold)

    @property
    def word(self) -> str:
        return "slower" if self.regressed else "faster" if self.improved else ""


def verdict(launches: Sequence[Launch], threshold: float = 0.02) -> Verdict:
    ratios = [quartile_ratio(np.array(base), np.array(head)) for base, head in launches]
    resampled = np.mean([resampled_logarithms(*launch, seed=number) for number, launch in enumerate(launches)], axis=0)
    spread = (max(ratios) - min(ratios)) / 2
    noise = float(np.hypot(ERRORS * np.std(resampled), spread))
    return Verdict(float(np.exp(np.mean(np.log(ratios)))), noise, threshold)


def quartile_ratio(base: NDArray[Any], head: NDArray[Any]) -> float:
    return float(np.quantile(head, QUARTILE) / np.quantile(base, QUARTILE))


def resampled_logarithms(base: Sequence[float], head: Sequence[float], seed: int) -> NDArray[Any]:
    """Logarithms of the ratio for rounds that are drawn again, with replacement."""
    pairs = np.stack([base, head])
    drawn = np.random.default_rng(seed).integers(0, pairs.shape[1], (RESAMPLES, pairs.shape[1]))
    lower = np.quantile(pairs[:, drawn], QUARTILE, axis=2)
    found: NDArray[Any] = np.log(lower[1] / lower[0])
    return found
