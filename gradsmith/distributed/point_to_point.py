"""Messages from one rank to another one.

Before each array goes a short message that says its dtype and number of elements, so that a receiver which expects
something else says so, and has not been written to. It also names a tag of the array's own: in whichever order receives
are tested, none takes another's elements.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradsmith.distributed.errors import DistBackendError
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.operands import array_of, expect_tensor, written
from gradsmith.distributed.work import Work
from gradsmith.distributed.world import get_group_rank, group_of, is_member

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]

_HEADER = 4  # numbers: kind and size of the dtype, elements, the tag of the elements
_FIRST_TAG = 16  # smaller ones are used by others
_TAGS = 1 << 20  # of messages that are named by users, and as many after them of elements
_numbers = itertools.count()


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to one rank; see `recv`. It is not recorded, which `distributed.nn.functional.send` is.

    Parameters
    ----------
    tensor : Tensor
    dst : int
        A rank of the world, `group_dst` one of the group.
    group : ProcessGroup, optional
    tag : int
        A receiver with the same one takes the message.

    Raises
    ------
    ValueError
        `dst` is this rank itself.
    """
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from one rank, or from any, in place.

    Returns
    -------
    int
        The rank of the world that has sent it; -1 if this one is not in the group.

    Raises
    ------
    DistBackendError
        What was sent has another dtype or number of elements, or nothing comes within the timeout.
    """
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


def isend(
    tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Begin to send a tensor, which should not be changed before the `Work` is done."""
    if not is_member(group, "isend"):
        return None
    group = group_of(group, "isend")
    target = _peer(group, "send", dst, group_dst)
    x = np.ascontiguousarray(array_of(expect_tensor("send", "tensor", tensor)))
    return Work(send_array(group, x, target, _FIRST_TAG + tag), [tensor])


def irecv(
    tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> ReceiveWork | None:
    """Begin to receive a tensor."""
    if not is_member(group, "irecv"):
        return None
    group = group_of(group, "irecv")
    source = None if src is None and group_src is None else _peer(group, "recv", src, group_src)
    (x,) = written("recv", [expect_tensor("recv", "tensor", tensor)])
    return ReceiveWork(recv_array(group, x, source, _FIRST_TAG + tag), [tensor])


class ReceiveWork(Work):
    """A receive that was started."""

    def source_rank(self) -> int:
        """The rank of the world that has sent what was received."""
        receive: Receiving = self._pending  # type: ignore[assignment]
        return receive.group.members[receive.source]


class P2POp:
    """One of the messages of `batch_isend_irecv`.

    Parameters
    ----------
    op : callable
        `isend` or `irecv`.
    tensor : Tensor
    peer : int
        A rank of the world, `group_peer` one of the group.
    group, tag : optional
    """

    def __init__(
        self, op: Any, tensor: Any, peer: int | None = None, group: Any = None, tag: int = 0,
        group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            raise ValueError("P2POp: op should be distributed.isend or distributed.irecv")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = (
            op,
            tensor,
            peer,
            group,
            tag,
            group_peer,
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages, in any order on both sides."""
    works = [one.op(one.tensor, one.peer, one.group, one.tag, one.group_peer) for one in p2p_op_list]
    return [work for work in works if work is not None]


# ---- arrays


class Sending:
    """An array on its way."""

    def __init__(self, group: ProcessGroup, requests: list[Any]) -> None:
        self._group, self._requests = group, requests
        self.is_delivered = False

    def is_done(self) -> bool:
        self.is_delivered = self.is_delivered or all(request.Test() for request in self._requests)
        return self.is_delivered

    def wait(self, timeout: float | None = None) -> None:
        self._group.wait(self._requests, "send", timeout)
        self.is_delivered = True


class Receiving:
    """An array that is waited for: first for its header, then for its elements.

    Attributes
    ----------
    data : ndarray
        What has come.
    source : int
        The rank of the group that has sent it.
    """

    def __init__(self, group: ProcessGroup, x: Any, source: int | None, tag: int) -> None:
        self.group, self.source = group, -1 if source is None else source
        self.is_delivered = False
        self._x = x
        self._header = np.zeros(_HEADER, np.int64)
        (self._request,) = group.transport.recv(self._header, source, tag)
        self.data: Any = None

    def Test(self) -> bool:
        if self.data is None and self._request.Test():
            self._begin()
        return self.data is not None and self._request.Test()

    def is_done(self) -> bool:
        if not self.is_delivered and self.Test():
            self._deliver()
        return self.is_delivered

    def wait(self, timeout: float | None = None) -> None:
        if not self.is_delivered:
            self.group.wait([self], "recv", timeout)
            self._deliver()

    def _begin(self) -> None:
        """The header is there, and says what comes."""
        if self.source < 0:
            self.source = self._request.source
        x = np.empty(int(self._header[2]), np.uint8) if self._x is None else self._x
        kind, size, length, tag = self._header.tolist()
        if (kind, size, length) != _kind_of(x):
            raise DistBackendError(
                f"recv: rank {self.group.members[self.source]} sends {length} elements of {chr(kind)}{size}, but "
                f"the tensor has "
                f"{x.size} of {x.dtype.kind}{x.itemsize}"
            )
        self.data = np.empty(x.shape, x.dtype)
        (self._request,) = self.group.transport.recv(self.data, self.source, tag)

    def _deliver(self) -> None:
        if self._x is not None:
            self._x[...] = self.data
        self.is_delivered = True


def send_array(group: ProcessGroup, x: Any, target: int, tag: int) -> Sending:
    """Begin to send a contiguous array to a rank of the group."""
    group.traffic.count("send", x.nbytes)
    own_tag = _TAGS + next(_numbers) % _TAGS
    header = np.array([*_kind_of(x), own_tag], np.int64)
    return Sending(group, [*group.transport.send(header, target, tag), *group.transport.send(x, target, own_tag)])


def recv_array(group: ProcessGroup, x: Any, source: int | None, tag: int) -> Receiving:
    """Begin to receive into an array, or bytes of whichever number if it is None."""
    return Receiving(group, x, source, tag)


def _kind_of(x: Any) -> tuple[int, int, int]:
    return ord(x.dtype.kind), x.itemsize, x.size


def _peer(group: ProcessGroup, op: str, rank: int | None, group_rank: int | None) -> int:
    """The number in the group of another rank."""
    if (rank is None) == (group_rank is None):
        raise ValueError(f"{op}: Must specify exactly one of the rank of the world and that of the group")
    found = group_rank if group_rank is not None else get_group_rank(group, rank)  # type: ignore[arg-type]
    if found == group.rank() and group.size() > 1:
        raise ValueError(f"{op}: Invalid {'destination' if op == 'send' else 'source'} rank: it is this rank itself")
    return found
