"""Do all ranks call the same? See Note [Agreement].

Note [Agreement]

MPI takes it on trust that all ranks call the same collective with arrays of the same size, and does whatever it does
when they do not. So each collective begins by comparing a fingerprint of the call, before any array is touched; where
ranks differ all of them learn it, and the details are exchanged then.

Ranks of one machine write their fingerprints on the board, in one word for each of the last calls, whose upper bits are
the number of the call. A word is written and read as a whole, so it does not matter in which order writes are seen. A
rank that starts more calls without waiting than there are words overwrites the first, which are not compared then.
Where a group is on several machines, 16 bytes are sent: the largest fingerprint and the largest of its negative, which
are the same number if all fingerprints are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradsmith.distributed.reduce_op import ReduceOp

__all__ = ["FINGERPRINT", "ByMessage", "OnTheBoard"]

FINGERPRINT = (1 << 24) - 1  # the bits of one
_CALL = FINGERPRINT + 1
_PROGRESS = 16  # tests between two looks at MPI


class OnTheBoard:
    """One call, compared by ranks that share the board. `Test` says whether all have come, as a request of MPI does.

    Parameters
    ----------
    rows : sequence
        Of the other ranks.
    place : int
        Where these have their words.
    word : int
        That of this rank.
    progress : callable
        Moves the messages on that others may be waiting for before they come.

    Attributes
    ----------
    differs : bool
        Whether one of those that have come calls something else.
    """

    __slots__ = ("_first", "_place", "_progress", "_rows", "_tests", "_word", "differs")

    def __init__(self, rows: Sequence[Any], place: int, word: int, progress: Callable[[], Any]) -> None:
        self._rows, self._place, self._word, self._progress = rows, place, word, progress
        self._first = word & ~FINGERPRINT  # of the words for this call and later ones
        self._tests = 0
        self.differs = False

    def Test(self) -> bool:
        for row in self._rows:
            theirs = row[self._place]
            if theirs == self._word:
                continue
            if theirs < self._first:
                self._tests += 1
                if not self._tests % _PROGRESS:
                    self._progress()
                return False
            if theirs < self._first + _CALL:
                self.differs = True
        return True


class ByMessage:
    """The same for ranks on several machines."""

    def __init__(self, transport: Any, fingerprint: int) -> None:
        self._both = np.array([fingerprint, -fingerprint], np.int64)
        (self._request,) = transport.all_reduce(self._both, ReduceOp.MAX)

    def Test(self) -> bool:
        return bool(self._request.Test())

    @property
    def differs(self) -> bool:
        return bool(self._both[0] != -self._both[1])
