"""How arrays get from rank to rank: by MPI, or, for one process without MPI, by copying.

Every method starts a message and returns the requests that say when it has arrived; each has `Test()`. Arrays are
contiguous and stay where they are until then. Nothing is checked here.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.distributed.reduce_op import ReduceOp

__all__ = ["Alone", "Mpi"]


class Mpi:
    """Messages of an MPI communicator, straight from the memory of arrays.

    Parameters
    ----------
    mpi : module
        `mpi4py.MPI`.
    comm : Intracomm
        No one else may use it.
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self._mpi, self.comm = mpi, comm
        self.size, self.rank = comm.size, comm.rank
        self._ops = {
            ReduceOp.SUM: mpi.SUM, ReduceOp.AVG: mpi.SUM, ReduceOp.PRODUCT: mpi.PROD, ReduceOp.MIN: mpi.MIN,
            ReduceOp.MAX: mpi.MAX, ReduceOp.BAND: mpi.BAND, ReduceOp.BOR: mpi.BOR, ReduceOp.BXOR: mpi.BXOR,
        }  # fmt: skip

    def all_reduce(self, x: Any, op: ReduceOp) -> list[Any]:
        return [self.comm.Iallreduce(self._mpi.IN_PLACE, x, self._ops[op])]

    def broadcast(self, x: Any, source: int) -> list[Any]:
        return [self.comm.Ibcast(self._bytes(x), source)]

    def reduce(self, x: Any, op: ReduceOp, target: int) -> list[Any]:
        if self.rank == target:
            return [self.comm.Ireduce(self._mpi.IN_PLACE, x, self._ops[op], target)]
        return [self.comm.Ireduce(x, None, self._ops[op], target)]

    def all_gather(self, out: Any, x: Any) -> list[Any]:
        return [self.comm.Iallgather(self._bytes(x), self._bytes(out))]

    def reduce_scatter(self, out: Any, x: Any, op: ReduceOp) -> list[Any]:
        return [self.comm.Ireduce_scatter_block(x, out, self._ops[op])]

    def gather(self, out: Any, x: Any, target: int) -> list[Any]:
        return [self.comm.Igather(self._bytes(x), self._bytes(out) if self.rank == target else None, target)]

    def scatter(self, out: Any, x: Any, source: int) -> list[Any]:
        return [self.comm.Iscatter(self._bytes(x) if self.rank == source else None, self._bytes(out), source)]

    def all_to_all(self, out: Any, x: Any, out_bytes: Sequence[int], in_bytes: Sequence[int]) -> list[Any]:
        return [self.comm.Ialltoallv([*self._bytes(x)[:1], in_bytes], [*self._bytes(out)[:1], out_bytes])]

    def send(self, x: Any, target: int, tag: int) -> list[Any]:
        return [self.comm.Isend(self._bytes(x), target, tag)]

    def recv(self, x: Any, source: int | None, tag: int) -> list[Any]:
        if source is not None:
            return [self.comm.Irecv(self._bytes(x), source, tag)]
        return [_FromAny(self.comm.Irecv(self._bytes(x), self._mpi.ANY_SOURCE, tag), self._mpi.Status())]

    def progress(self) -> None:
        """Move messages on without waiting for any."""
        self.comm.Iprobe()

    def largest(self, number: int) -> int:
        """Of the numbers that the ranks have; the only method that waits."""
        return int(self.comm.allreduce(number, self._mpi.MAX))

    def part(self, ranks: Sequence[int]) -> Mpi | None:
        """The messages of some of these ranks; all ranks call it, and it is None for those that are not among them."""
        color = 0 if self.rank in ranks else self._mpi.UNDEFINED
        comm = self.comm.Split(color, ranks.index(self.rank) if self.rank in ranks else 0)
        return None if comm == self._mpi.COMM_NULL else Mpi(self._mpi, comm)

    def part_by_itself(self, ranks: Sequence[int]) -> Mpi:
        """The same, called by those ranks alone."""
        return Mpi(self._mpi, self.comm.Create_group(self.comm.group.Incl(list(ranks))))

    def close(self) -> None:
        self.comm.Free()

    def _bytes(self, x: Any) -> tuple[Any, Any]:
        return x.reshape(-1).view(np.uint8), self._mpi.BYTE


class _FromAny:
    """A message from whichever rank, which it tells once it is there."""

    def __init__(self, request: Any, status: Any) -> None:
        self._request, self._status = request, status

    def Test(self) -> bool:
        return bool(self._request.Test(self._status))

    @property
    def source(self) -> int:
        return int(self._status.source)


class Alone:
    """One process without MPI: what is sent comes back."""

    size, rank = 1, 0

    def __init__(self) -> None:
        self._sent: dict[int, deque[Any]] = defaultdict(deque)

    def all_reduce(self, x: Any, op: ReduceOp) -> list[Any]:
        return []

    def broadcast(self, x: Any, source: int) -> list[Any]:
        return []

    def reduce(self, x: Any, op: ReduceOp, target: int) -> list[Any]:
        return []

    def all_gather(self, out: Any, x: Any) -> list[Any]:
        return self._copied(out, x)

    def reduce_scatter(self, out: Any, x: Any, op: ReduceOp) -> list[Any]:
        return self._copied(out, x)

    def gather(self, out: Any, x: Any, target: int) -> list[Any]:
        return self._copied(out, x)

    def scatter(self, out: Any, x: Any, source: int) -> list[Any]:
        return self._copied(out, x)

    def all_to_all(self, out: Any, x: Any, out_bytes: Sequence[int], in_bytes: Sequence[int]) -> list[Any]:
        return self._copied(out, x)

    def send(self, x: Any, target: int, tag: int) -> list[Any]:
        self._sent[tag].append(x.copy())
        return []

    def recv(self, x: Any, source: int | None, tag: int) -> list[Any]:
        return [_Received(x, self._sent[tag])]

    def largest(self, number: int) -> int:
        return number

    def part(self, ranks: Sequence[int]) -> Alone:
        return Alone()

    def part_by_itself(self, ranks: Sequence[int]) -> Alone:
        return Alone()

    def close(self) -> None:
        pass

    def _copied(self, out: Any, x: Any) -> list[Any]:
        out.reshape(-1)[...] = x.reshape(-1)
        return []


class _Received:
    """Waits for what the process sends to itself."""

    source = 0

    def __init__(self, x: Any, sent: deque[Any]) -> None:
        self._x, self._sent = x, sent

    def Test(self) -> bool:
        if not self._sent:
            return False
        self._x.reshape(-1)[...] = self._sent.popleft().reshape(-1)
        return True
