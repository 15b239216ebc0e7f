"""Where each rank writes what it calls: for those that compare it with their own call, and for their error messages.

The ranks of one machine share the memory, so nothing is sent, and a rank that hangs can be read all the same.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from typing import Any

from gradsmith.distributed.groups.pinning import own_cores
from gradsmith.distributed.groups.watch import Watch

__all__ = ["Board"]

_RING = 16  # calls of a group that can be read, the last ones
_GROUPS = 250  # of later ones nothing is known
_CALLS, _GROUP, _OP, _ENDED, _BY_GROUP = range(5)
_WORDS = _BY_GROUP + _GROUPS
_WIDTH = _WORDS + _GROUPS * _RING


class Board:
    """A row of numbers for each rank of this machine.

    Parameters
    ----------
    mpi : module
        `mpi4py.MPI`.
    world : Intracomm
    names : list of str
        The names of collectives, which are written as numbers.

    Attributes
    ----------
    size : int
        The number of rows.
    is_crowded : bool
        The machine has fewer cores than ranks: a rank that waits should leave its core to the others.
    watch : Watch
        Knows of those that died before they could write it here.
    """

    def __init__(self, mpi: Any, world: Any, names: list[str]) -> None:
        self._names = names
        self._numbers = {name: number for number, name in enumerate(names)}
        node = world.Split_type(mpi.COMM_TYPE_SHARED)
        self.watch = Watch(node, world.rank, world.size)
        self._window = mpi.Win.Allocate_shared(8 * _WIDTH, 8, comm=node)
        self._rows = {rank: self._row(place) for place, rank in enumerate(node.allgather(world.rank))}
        self.size = len(self._rows)
        self.is_crowded = len(set().union(*node.allgather(own_cores()))) < self.size
        self._own = self._rows[world.rank]
        self._own[:] = memoryview(bytes(8 * _WIDTH)).cast("q")
        self.watch.wait()
        node.Barrier()
        node.Free()
        atexit.register(self.end)

    def _row(self, place: int) -> Any:
        memory, _ = self._window.Shared_query(place)
        return memoryview(memory).cast("q")  # of which an element is read in a fraction of the time that an array takes

    def write(self, group: int, calls: int, op: str, word: int) -> int:
        """Before a collective: which it is, the how manieth call of its group, and a word about it.

        Returns
        -------
        int
            The place of the words of the other ranks for the same call.
        """
        own = self._own
        own[_CALLS], own[_GROUP], own[_OP] = calls, group, self._numbers[op]
        place = _WORDS + group * _RING + calls % _RING
        if group < _GROUPS:
            own[_BY_GROUP + group], own[place] = calls, word
        return place

    def has_all(self, group: int, members: Sequence[int]) -> bool:
        """Whether all ranks of a group are on this machine, and their words can be read."""
        return group < _GROUPS and all(rank in self._rows for rank in members)

    def rows_of_others(self, members: Sequence[int]) -> list[Any]:
        """What the other ranks of a group write."""
        return [self._rows[rank] for rank in members if self._rows[rank] is not self._own]

    def end(self) -> None:
        """This process comes to its end."""
        self._own[_ENDED] = 1

    def close(self) -> None:
        """All ranks of this machine are done with it."""
        atexit.unregister(self.end)
        self.watch.close()
        self._rows.clear()
        self._own = [0] * _WIDTH
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
