"""Process groups: ranks that call the same collectives in the same order."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradsmith.distributed.errors import DistBackendError
from gradsmith.distributed.groups.agreement import FINGERPRINT, ByMessage, OnTheBoard
from gradsmith.distributed.groups.board import Board
from gradsmith.distributed.groups.exchanges import Exchanges
from gradsmith.distributed.groups.traffic import Traffic
from gradsmith.distributed.groups.waiting import CROWDED, USUAL, wait_until
from gradsmith.distributed.reduce_op import ReduceOp

__all__ = ["ProcessGroup"]

_DETAILS = 1000  # bytes of the text that says what a rank calls
_KEPT = 4096  # fingerprints of calls


class ProcessGroup:
    """Ranks that communicate with each other; `init_process_group` and `new_group` make them.

    Attributes
    ----------
    members : tuple of int
        The numbers in the world of the group's ranks, in their order.
    ranks : Ranks
        What the collective ops of the table call.
    traffic : Traffic
        Counts the calls of this rank, and the bytes that it sends.
    """

    def __init__(
        self,
        transport: Any,
        members: Sequence[int],
        number: int,
        timeout: float,
        board: Board | None,
        debug: bool,
        name: str,
    ) -> None:
        self.transport = transport
        self.members = tuple(members)
        self.number = number
        self.timeout = timeout
        self.debug = debug
        self.group_name = name
        self.traffic = Traffic()
        self.calls = 0
        self.ranks = Exchanges(self)
        self._board = board
        self._is_alone = self.size() == 1
        self._patience = CROWDED if board is not None and board.is_crowded else USUAL
        self._is_on_board = board is not None and board.has_all(number, self.members)
        self._rows = board.rows_of_others(self.members) if board is not None and self._is_on_board else []
        self._fingerprints: dict[tuple[str, tuple[Any, ...]], int] = {}

    def size(self) -> int:
        return int(self.transport.size)

    def rank(self) -> int:
        """The number of this process in the group."""
        return int(self.transport.rank)

    def name(self) -> str:
        return "mpi" if self._board is not None else "alone"

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name}: rank {self.rank()} of {self.size()}>"

    def rank_in_group(self, rank: int, op: str) -> int:
        """The number in this group of a rank of the world."""
        if rank not in self.members:
            raise ValueError(f"{op}: Global rank {rank} is not part of group {self.group_name}, {list(self.members)}")
        return self.members.index(rank)

    # ---- calls

    def agree(self, op: str, details: tuple[Any, ...]) -> None:
        """Wait until all ranks have called the same; see Note [Agreement].

        Raises
        ------
        DistBackendError
            They have not.
        """
        self.calls += 1
        if self._board is None or self._is_alone:
            return
        agreement = self._agreement(op, details)
        if not agreement.Test():
            self.wait((agreement,), op)
        if agreement.differs:
            self._report_difference(self.calls, op, details, self._line())

    def start_agreement(self, op: str, details: tuple[Any, ...]) -> tuple[list[Any], Callable[[], None]]:
        """The same without waiting: requests, and what to call when they are done."""
        self.calls += 1
        if self._board is None or self._is_alone:
            return [], _nothing
        agreement = self._agreement(op, details)
        call, where = self.calls, self._line()

        def compare() -> None:
            if agreement.differs:
                self._report_difference(call, op, details, where)

        return [agreement], compare

    def _agreement(self, op: str, details: tuple[Any, ...]) -> OnTheBoard | ByMessage:
        """Let the others see that this rank has come, and what it calls."""
        board, fingerprint = self._board, self._fingerprint(op, details)
        assert board is not None
        word = self.calls * (FINGERPRINT + 1) + fingerprint
        place = board.write(self.number, self.calls, op, word)
        if self._is_on_board:
            return OnTheBoard(self._rows, place, word, self.transport.progress)
        return ByMessage(self.transport, fingerprint)

    def _fingerprint(self, op: str, details: tuple[Any, ...]) -> int:
        found = self._fingerprints.get((op, details))
        if found is None:
            if len(self._fingerprints) > _KEPT:
                self._fingerprints.clear()
            found = self._fingerprints[op, details] = zlib.crc32(_in_words(op, details).encode()) & FINGERPRINT
        return found

    def _line(self) -> str:
        return _line_of_the_caller() if self.debug else ""

    def wait(self, requests: Sequence[Any], op: str, timeout: float | None = None) -> None:
        """Wait for messages.

        Raises
        ------
        DistBackendError
            A rank that this one waits for has ended, or does not come within the time.
        """
        limit = self.timeout if timeout is None else timeout
        for request in requests:
            for _ in self._patience.at_once:
                if request.Test():
                    break
            else:
                wait_until(request.Test, limit, lambda waited: self._look_around(op, waited, limit), self._patience)

    # ---- what went wrong

    def _look_around(self, op: str, waited: float, limit: float) -> None:
        """Raise when a rank for which this one waits has ended, one of the group has died, or the time has run out."""
        missing = self._missing()
        ended = self._ended(missing)
        if not ended and waited < limit:
            return
        reason = f"rank {ended[0]} has ended" if ended else f"it was not done after {limit:g} s"
        others = "; ".join(f"rank {rank} {self._board.last_call(rank)}" for rank in missing) if self._board else ""
        raise DistBackendError(
            f"{op} (call {self.calls} of group {self.number}) on rank {self._own()}: {reason}"
            + (f". It waits for: {others}" if others else ". All other ranks have called it")
        )

    def _missing(self) -> list[int]:
        """Ranks of the world that are known not to have made the call that this one waits in."""
        if self._board is None:
            return []
        return [rank for rank in self.members if self._board.is_missing(rank, self.number, self.calls)]

    def _ended(self, missing: Sequence[int]) -> list[int]:
        """Of the missing ranks, those that have ended; and of all, those that died, in the midst of the call even."""
        if self._board is None:
            return []
        dead = self._board.watch.dead()
        return [rank for rank in self.members if rank in dead or (rank in missing and self._board.has_ended(rank))]

    def _report_difference(self, call: int, op: str, details: tuple[Any, ...], where: str) -> None:
        text = f"{_in_words(op, details)}{' at ' + where if where else ''}".encode()[:_DETAILS]
        own = np.frombuffer(text.ljust(_DETAILS), np.uint8)
        everyone = np.empty((self.size(), _DETAILS), np.uint8)
        self.wait(self.transport.all_gather(everyone, own.copy()), op)
        calls = [bytes(row).decode(errors="replace").rstrip() for row in everyone]
        usual = max(set(calls), key=calls.count)
        lines = "".join(f"\n  rank {self.members[i]}: {call}" for i, call in enumerate(calls))
        odd = [self.members[i] for i, call in enumerate(calls) if call != usual]
        hint = "" if self.debug else "\ninit_process_group(debug=True) shows the lines"
        raise DistBackendError(
            f"the ranks of group {self.number} differ in call {call}: rank {', '.join(map(str, odd))} "
            f"calls something else{lines}{hint}"
        )

    def _own(self) -> int:
        return self.members[self.rank()]


def _in_words(op: str, details: tuple[Any, ...]) -> str:
    """A call, as all ranks write it."""
    return f"{op}({', '.join(map(_word, details))})"


def _word(detail: Any) -> str:
    if isinstance(detail, ReduceOp):
        return detail.name
    return detail.str if isinstance(detail, np.dtype) else str(detail)


def _line_of_the_caller() -> str:
    """The first line outside of this package: file, number and function."""
    frame = sys._getframe(1)
    while frame.f_back is not None and "/gradsmith/" in frame.f_code.co_filename.replace("\\", "/"):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def _nothing() -> None:
    """Nobody to agree with."""
