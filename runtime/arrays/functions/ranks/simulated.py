"""Ranks in one process: the first dimension of an array has a row for each of them.

What ranks exchange is linear in all that they have together, and here that is one array. So the formulas of collective
ops are proven like any others, by differences.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


class SimulatedRanks:
    """A number of ranks, with the methods that the ranks of a group have; see `collectives.Ranks`."""

    def __init__(self, size: int) -> None:
        self.size = size

    def all_reduce(self, rows: Array) -> Any:
        return self._everywhere(rows.sum(0))

    def broadcast(self, rows: Array, source: int) -> Any:
        return self._everywhere(rows[source])

    def reduce(self, rows: Array, target: int) -> Any:
        return self._at(target, rows.sum(0))

    def all_gather(self, rows: Array) -> Any:
        return self._everywhere(np.concatenate(list(rows)))

    def reduce_scatter(self, rows: Array) -> Any:
        return self._divided(rows.sum(0))

    def gather(self, rows: Array, target: int) -> Any:
        return self._at(target, np.concatenate(list(rows)))

    def scatter(self, rows: Array, source: int) -> Any:
        return self._divided(rows[source])

    def all_to_all(self, rows: Array) -> Any:
        parts = np.stack([self._divided(row) for row in rows])
        return parts.swapaxes(0, 1).reshape(rows.shape)

    def shift(self, rows: Array, steps: int, periodic: bool) -> Any:
        found = np.zeros_like(rows)
        for rank in range(self.size):
            source = rank - steps
            if periodic or 0 <= source < self.size:
                found[rank] = rows[source % self.size]
        return found

    def send_recv(self, rows: Array, source: int, target: int) -> Any:
        return self._at(target, rows[source])

    def _everywhere(self, row: Array) -> Any:
        return np.repeat(row[None], self.size, 0)

    def _at(self, target: int, row: Array) -> Any:
        found = np.zeros((self.size, *row.shape), row.dtype)
        found[target] = row
        return found

    def _divided(self, row: Array) -> Any:
        return row.reshape(self.size, row.shape[0] // self.size, *row.shape[1:]).copy()
