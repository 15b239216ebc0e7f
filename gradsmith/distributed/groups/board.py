"""Where each rank writes what it has called last, for the error message of those that wait for it.

The ranks of one machine share the memory, so nothing is sent, and a rank that hangs can be read all the same.
"""

from __future__ import annotations

import atexit
from typing import Any

import numpy as np

__all__ = ["Board"]

_CALLS, _GROUP, _OP, _ENDED, _BY_GROUP = range(5)
_GROUPS = 250  # of later ones nothing is known
_WIDTH = _BY_GROUP + _GROUPS


class Board:
    """A row of numbers for each rank of this machine.

    Parameters
    ----------
    mpi : module
        `mpi4py.MPI`.
    world : Intracomm
    names : list of str
        The names of collectives, which are written as numbers.
    """

    def __init__(self, mpi: Any, world: Any, names: list[str]) -> None:
        self._names = names
        self._numbers = {name: number for number, name in enumerate(names)}
        node = world.Split_type(mpi.COMM_TYPE_SHARED)
        self._window = mpi.Win.Allocate_shared(8 * _WIDTH, 8, comm=node)
        self._rows = {rank: self._row(place) for place, rank in enumerate(node.allgather(world.rank))}
        self._own = self._rows[world.rank]
        self._own[:] = 0
        node.Barrier()
        node.Free()
        atexit.register(self.end)

    def _row(self, place: int) -> Any:
        memory, _ = self._window.Shared_query(place)
        return np.ndarray(_WIDTH, np.int64, memory)

    def write(self, group: int, calls: int, op: str) -> None:
        """Before a collective: which it is, and the how manieth call of its group."""
        own = self._own
        own[_CALLS], own[_GROUP], own[_OP] = calls, group, self._numbers[op]
        if group < _GROUPS:
            own[_BY_GROUP + group] = calls

    def end(self) -> None:
        """This process comes to its end."""
        self._own[_ENDED] = 1

    def close(self) -> None:
        """All ranks of this machine are done with it."""
        atexit.unregister(self.end)
        self._rows.clear()
        self._own = np.zeros(_WIDTH, np.int64)
        self._window.Free()

    def has_ended(self, rank: int) -> bool:
        row = self._rows.get(rank)
        return row is not None and bool(row[_ENDED])

    def is_missing(self, rank: int, group: int, calls: int) -> bool:
        """Whether it is known that a rank has not called what others wait in."""
        row = self._rows.get(rank)
        return row is not None and group < _GROUPS and bool(row[_BY_GROUP + group] < calls)

    def last_call(self, rank: int) -> str:
        """What a rank has called last, in words."""
        row = self._rows.get(rank)
        if row is None:
            return "is on another machine"
        if not row[_CALLS]:
            return "has called no collective yet" if not row[_ENDED] else "has ended"
        last = f"{self._names[row[_OP]]}, call {row[_CALLS]} of group {row[_GROUP]}"
        return f"has ended after {last}" if row[_ENDED] else f"came to {last}"
