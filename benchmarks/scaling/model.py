"""The time of messages and of steps, as formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Network(NamedTuple):
    """What ranks exchange messages over."""

    name: str
    latency: float  # seconds for a message of no bytes
    bandwidth: float  # bytes a second

    def ring(self, nbytes: float, ranks: int) -> float:
        """Seconds of an `all_reduce` in a ring: ``2 (n - 1)`` messages, one after the other, of an n-th each."""
        return 2 * (ranks - 1) * self.latency + self._volume(nbytes, ranks)

    def halving(self, nbytes: float, ranks: int) -> float:
        """The same bytes by halving and doubling, in ``2 log2(n)`` messages."""
        return 2 * float(np.log2(ranks)) * self.latency + self._volume(nbytes, ranks)

    def _volume(self, nbytes: float, ranks: int) -> float:
        return 2 * (ranks - 1) / ranks * nbytes / self.bandwidth


def fitted(name: str, ranks: int, sizes: Sequence[int], times: Sequence[float]) -> Network:
    """The network whose ring comes closest to the times of `all_reduce`, by the squares of relative errors."""
    t = np.asarray(times)
    latencies = np.full(len(t), 2.0 * (ranks - 1))
    bytes_sent = 2 * (ranks - 1) / ranks * np.asarray(sizes, float)
    (latency, seconds_a_byte), *_ = np.linalg.lstsq(np.stack([latencies / t, bytes_sent / t], 1), np.ones(len(t)))
    return Network(name, float(max(latency, 0)), float(1 / seconds_a_byte))


class Step(NamedTuple):
    """A step of training."""

    alone: float  # seconds of one rank, while the others do nothing
    silent: float  # of all ranks at once, which send nothing
    parallel: float  # of all ranks at once, with DistributedDataParallel
    buckets: tuple[int, ...]  # bytes of the gradients, message by message

    def communication(self, network: Network, ranks: int) -> float:
        """Seconds of all messages in a ring."""
        return sum(network.ring(nbytes, ranks) for nbytes in self.buckets)

    def by_halving(self, network: Network, ranks: int) -> float:
        return sum(network.halving(nbytes, ranks) for nbytes in self.buckets)

    def overlap(self, network: Network, ranks: int) -> float:
        """The part of the communication that is hidden behind backward, as measured."""
        seen = (self.parallel - self.silent) / self.communication(network, ranks)
        return float(np.clip(1 - seen, 0, 1))

    def rest(self, network: Network, ranks: int) -> float:
        """What a step with communication takes longer than the communication by itself."""
        return max(0.0, self.parallel - self.silent - self.communication(network, ranks))


class Prediction(NamedTuple):
    """Steps on other ranks."""

    step: Step
    overlap: float
    rest: float  # seconds

    def time(self, communication: float) -> float:
        """Seconds of a step whose messages take so long."""
        return self.step.silent + self.rest + (1 - self.overlap) * communication

    def efficiency(self, communication: float) -> float:
        return self.step.alone / self.time(communication)
