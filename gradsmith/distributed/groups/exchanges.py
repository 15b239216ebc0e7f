"""What a group does with arrays: packing, the dtypes that MPI has no operations for, and waiting.

The methods that begin with `start` return what can be waited for, and write to an array once all is there. The others
are the collective ops of the table: each waits, and returns a new array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradsmith.distributed.reduce_op import ReduceOp

if TYPE_CHECKING:
    from gradsmith.distributed.groups.group import ProcessGroup

__all__ = ["Exchanges", "Running"]

# Bools are bytes to MPI, of which the largest is one if any is.
_OF_BOOLS = {
    ReduceOp.SUM: ReduceOp.MAX, ReduceOp.MAX: ReduceOp.MAX, ReduceOp.BOR: ReduceOp.MAX, ReduceOp.MIN: ReduceOp.MIN,
    ReduceOp.PRODUCT: ReduceOp.MIN, ReduceOp.BAND: ReduceOp.MIN, ReduceOp.BXOR: ReduceOp.BXOR,
}  # fmt: skip


class Running(Protocol):
    """What was started."""

    is_delivered: bool

    def is_done(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> None: ...


class Pending:
    """A collective on its way.

    Parameters
    ----------
    group : ProcessGroup
    op : str
        Its name, for errors.
    requests : list
        The messages, first those of the agreement.
    compare, finish : callable
        Called once all messages are there: the first raises where ranks differ, the second delivers.
    """

    def __init__(
        self,
        group: ProcessGroup,
        op: str,
        requests: list[Any],
        compare: Callable[[], None],
        finish: Callable[[], None],
    ) -> None:
        self._group, self._op = group, op
        self._requests = requests
        self._compare, self._finish = compare, finish
        self.is_delivered = False

    def is_done(self) -> bool:
        """Move the messages on, and deliver if they are all there."""
        if not self.is_delivered and all(request.Test() for request in self._requests):
            self._deliver()
        return self.is_delivered

    def wait(self, timeout: float | None = None) -> None:
        if not self.is_delivered:
            self._group.wait(self._requests, self._op, timeout)
            self._deliver()

    def _deliver(self) -> None:
        self._requests = []
        self._compare()
        self._finish()
        self.is_delivered = True


class _Done:
    """A collective that was waited for."""

    is_delivered = True

    def is_done(self) -> bool:
        return True

    def wait(self, timeout: float | None = None) -> None:
        """There is nothing to wait for."""


_DONE = _Done()


class Exchanges:
    """The arrays of one group; the methods without `start` are those of `collectives.Ranks`."""

    def __init__(self, group: ProcessGroup) -> None:
        self._group, self._transport = group, group.transport
        self.size = int(self._transport.size)

    def start(
        self, op: str, begin: Callable[[], list[Any]], finish: Callable[[], None], details: tuple[Any, ...],
        nbytes: int, waits: bool = True, is_agreed: bool = False,
    ) -> Running:  # fmt: skip
        """A collective.

        Parameters
        ----------
        begin, finish : callable
            The first starts the messages, the second delivers.
        details : sequence
            What has to be the same for all ranks.
        nbytes : int
            What this rank sends.
        waits : bool
            Return when it is done. Nothing is sent before the ranks have agreed, so messages may go straight into the
            memory of the arrays.
        is_agreed : bool
            The ranks have agreed before.
        """
        group = self._group
        group.traffic.count(op, nbytes)
        if waits:
            if not is_agreed:
                group.agree(op, details)
            group.wait(begin(), op)
            finish()
            return _DONE
        requests, compare = ([], _nothing) if is_agreed else group.start_agreement(op, details)
        return Pending(group, op, [*requests, *begin()], compare, finish)

    # ---- into arrays

    def start_all_reduce(self, x: Any, op: ReduceOp, waits: bool = True, is_agreed: bool = False) -> Running:
        """The arrays of all ranks become their sum, or what `op` says."""
        op.check("all_reduce", x.dtype)
        buffer, how = self._operand(x, op, may_be_itself=waits or is_agreed)
        return self.start(
            "all_reduce", lambda: self._transport.all_reduce(buffer, how), lambda: self._deliver(x, buffer, op),
            (x.dtype, x.size, op), self._share(2 * buffer.nbytes), waits, is_agreed,
        )  # fmt: skip

    def start_broadcast(self, x: Any, source: int, waits: bool = True, is_agreed: bool = False) -> Running:
        """The arrays of all ranks become that of one."""
        buffer = self._packed(x, may_be_itself=waits or is_agreed)
        return self.start(
            "broadcast", lambda: self._transport.broadcast(buffer, source), lambda: _copy(x, buffer),
            (x.dtype, x.size, source), self._share(x.nbytes), waits, is_agreed,
        )  # fmt: skip

    def start_reduce(self, x: Any, op: ReduceOp, target: int, waits: bool = True) -> Running:
        """The array of one rank becomes the sum, or what `op` says."""
        op.check("reduce", x.dtype)
        buffer, how = self._operand(x, op, may_be_itself=False)
        at_target = self._transport.rank == target
        return self.start(
            "reduce", lambda: self._transport.reduce(buffer, how, target),
            lambda: self._deliver(x, buffer, op) if at_target else None,
            (x.dtype, x.size, op, target), self._share(buffer.nbytes), waits,
        )  # fmt: skip

    def start_all_gather(self, out: Any, x: Any, waits: bool = True, is_agreed: bool = False) -> Running:
        """The arrays of all ranks, one after the other, in `out`."""
        buffer, sent = self._packed(out, waits or is_agreed), np.ascontiguousarray(x)
        return self.start(
            "all_gather", lambda: self._transport.all_gather(buffer, sent), lambda: _copy(out, buffer),
            (x.dtype, x.size), self._share(out.nbytes), waits, is_agreed,
        )  # fmt: skip

    def start_reduce_scatter(
        self, out: Any, x: Any, op: ReduceOp, waits: bool = True, is_agreed: bool = False
    ) -> Running:
        """A part of the sum, or what `op` says, in `out`."""
        op.check("reduce_scatter", x.dtype)
        sent, how = self._operand(x, op, may_be_itself=True)
        buffer = np.empty(out.size, sent.dtype)
        return self.start(
            "reduce_scatter", lambda: self._transport.reduce_scatter(buffer, sent, how),
            lambda: self._deliver(out, buffer, op),
            (x.dtype, x.size, op), self._share(sent.nbytes), waits, is_agreed,
        )  # fmt: skip

    def start_gather(self, out: Any, x: Any, target: int, waits: bool = True) -> Running:
        """The arrays of all ranks in `out`, which one of them has."""
        buffer = None if out is None else np.empty(out.size, out.dtype)
        sent = np.ascontiguousarray(x)
        return self.start(
            "gather", lambda: self._transport.gather(buffer, sent, target),
            lambda: None if out is None else _copy(out, buffer), (x.dtype, x.size, target),
            0 if self._transport.rank == target else x.nbytes, waits,
        )  # fmt: skip

    def start_scatter(self, out: Any, x: Any, source: int, waits: bool = True) -> Running:
        """A part of `x`, which one rank has, in `out`."""
        buffer = np.empty(out.size, out.dtype)
        sent = None if x is None else np.ascontiguousarray(x)
        return self.start(
            "scatter", lambda: self._transport.scatter(buffer, sent, source), lambda: _copy(out, buffer),
            (out.dtype, out.size, source), self._share(x.nbytes) if self._transport.rank == source else 0, waits,
        )  # fmt: skip

    def start_all_to_all(
        self, out: Any, x: Any, out_sizes: Sequence[int], in_sizes: Sequence[int], waits: bool = True
    ) -> Running:
        """Elements for each rank, and from each; the sizes are numbers of elements."""
        buffer, sent = np.empty(out.size, out.dtype), np.ascontiguousarray(x)
        counts = [[size * x.itemsize for size in sizes] for sizes in (out_sizes, in_sizes)]
        rest = x.nbytes - counts[1][self._transport.rank]
        return self.start(
            "all_to_all", lambda: self._transport.all_to_all(buffer, sent, *counts), lambda: _copy(out, buffer),
            (x.dtype,), rest, waits,
        )  # fmt: skip

    # ---- the ops of the table

    def all_reduce(self, x: Any) -> Any:
        found = np.array(x, order="C")
        self.start_all_reduce(found, ReduceOp.SUM).wait()
        return found

    def broadcast(self, x: Any, source: int) -> Any:
        found = np.array(x, order="C")
        self.start_broadcast(found, source).wait()
        return found

    def reduce(self, x: Any, target: int) -> Any:
        found = np.array(x, order="C")
        self.start_reduce(found, ReduceOp.SUM, target).wait()
        return found if self._transport.rank == target else np.zeros_like(found)

    def all_gather(self, x: Any) -> Any:
        found = np.empty((x.shape[0] * self.size, *x.shape[1:]), x.dtype)
        self.start_all_gather(found, x).wait()
        return found

    def reduce_scatter(self, x: Any) -> Any:
        found = np.empty((x.shape[0] // self.size, *x.shape[1:]), x.dtype)
        self.start_reduce_scatter(found, x, ReduceOp.SUM).wait()
        return found

    def gather(self, x: Any, target: int) -> Any:
        found = np.zeros((x.shape[0] * self.size, *x.shape[1:]), x.dtype)
        self.start_gather(found if self._transport.rank == target else None, x, target).wait()
        return found

    def scatter(self, x: Any, source: int) -> Any:
        found = np.empty((x.shape[0] // self.size, *x.shape[1:]), x.dtype)
        self.start_scatter(found, x if self._transport.rank == source else None, source).wait()
        return found

    def all_to_all(self, x: Any) -> Any:
        found = np.empty(x.shape, x.dtype)
        sizes = [x.size // self.size] * self.size
        self._expect_same("all_to_all", x)
        self.start_all_to_all(found, x, sizes, sizes).wait()
        return found

    def shift(self, x: Any, steps: int, periodic: bool) -> Any:
        target, source = self._transport.rank + steps, self._transport.rank - steps
        if periodic:
            target, source = target % self.size, source % self.size
        inside = range(self.size)
        return self._passed("shift", x, source if source in inside else None, target if target in inside else None)

    def send_recv(self, x: Any, source: int, target: int) -> Any:
        """Only the two ranks take part, so there is no agreement; see `_passed`."""
        rank = self._transport.rank
        return self._passed("send_recv", x, source if rank == target else None, target if rank == source else None)

    def _passed(self, op: str, x: Any, source: int | None, target: int | None) -> Any:
        """What one rank sends, while `x` is sent to another one; zeros where there is none."""
        sent, found = np.ascontiguousarray(x), np.zeros(x.shape, x.dtype)
        if source == target == self._transport.rank:
            return sent.copy()
        requests = [] if target is None else self._transport.send(sent, target, _TAG)
        requests += [] if source is None else self._transport.recv(found, source, _TAG)
        self._group.traffic.count(op, 0 if target is None else x.nbytes)
        self._group.wait(requests, op)
        return found

    # ---- helpers

    def _expect_same(self, op: str, x: Any) -> None:
        """All ranks have arrays of one size; where that is not so the agreement of `all_to_all` does not tell."""
        self._group.agree(op, (x.dtype, x.size))

    def _share(self, nbytes: int) -> int:
        """What a rank sends of an array that each has a part of."""
        return nbytes * (self.size - 1) // self.size

    def _packed(self, x: Any, may_be_itself: bool) -> Any:
        """A contiguous array with the elements of `x`: its own memory, or a copy."""
        return x if may_be_itself and x.flags.c_contiguous and x.flags.writeable else np.array(x, order="C")

    def _operand(self, x: Any, op: ReduceOp, may_be_itself: bool) -> tuple[Any, ReduceOp]:
        """What MPI computes with, and how."""
        kind = x.dtype.char
        if kind == _HALF:
            return x.astype(np.float32, order="C"), op
        buffer = self._packed(x, may_be_itself)
        return (buffer.view(np.uint8), _OF_BOOLS[op]) if kind == _BOOL else (buffer, op)

    def _deliver(self, x: Any, buffer: Any, op: ReduceOp) -> None:
        if op is _AVG:
            buffer /= buffer.dtype.type(self.size)
        if x is not buffer:
            _copy(x, buffer.view(np.bool_) if x.dtype.char == _BOOL else buffer)


_TAG = 1
_HALF, _BOOL = np.dtype(np.float16).char, np.dtype(np.bool_).char
_AVG = ReduceOp.AVG  # a member is found faster here than in its class


def _copy(x: Any, buffer: Any) -> None:
    if x is not buffer:
        x[...] = buffer.reshape(x.shape)


def _nothing() -> None:
    """The ranks have agreed."""
