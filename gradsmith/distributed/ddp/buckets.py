"""Gradients in a few large tensors, each of which is one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.distributed.ddp.comm_hook import result_of
from gradsmith.distributed.groups.exchanges import Running
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.operands import array_of
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.futures import Future
from gradsmith.runtime.arrays.memory_format import strided
from gradsmith.runtime.tensors.factories.creation import empty

__all__ = ["Bucket", "buckets_of"]

# Bytes. The gradients of the last layers are there first: a small first bucket is on its way while the next fills. A
# parameter of more than that has a bucket of its own, which need not be copied to and from: it is the gradient itself.
_FIRST = 1024 * 1024


class Bucket:
    """Gradients of some parameters, one after the other in one tensor.

    Attributes
    ----------
    parameters : list of Parameter
    flat : Tensor
        All elements.
    views : list of Tensor
        The part of each parameter, in its shape.
    takes_gradient : bool
        The gradient of the only parameter is summed where it lies.
    """

    def __init__(self, parameters: list[Any], as_views: bool) -> None:
        self.parameters = parameters
        self.takes_gradient = len(parameters) == 1 and not as_views
        if not self.takes_gradient:
            self.allocate()
        self.missing: set[int] = set()
        self.pending: Running | None = None
        self.future: Future[Any] | None = None  # what a communication hook has returned, instead of `pending`

    def allocate(self) -> None:
        """Take memory, which has no gradient yet."""
        sizes = [p.numel() for p in self.parameters]
        self.flat = empty(sum(sizes), dtype=self.parameters[0].dtype)
        self.views = [part.view(p.shape) for part, p in zip(self.flat.split(sizes), self.parameters)]

    def reset(self) -> None:
        """Before a backward: no gradient is there yet."""
        self.missing = set(range(len(self.parameters)))
        self.pending = self.future = None

    def put(self, place: int) -> None:
        """Take the gradient of a parameter, or zeros where it has none."""
        self.missing.discard(place)
        parameter = self.parameters[place]
        grad = parameter.grad
        if self.takes_gradient:
            if is_message(grad, parameter):
                self.flat, self.views = grad.view(-1), [grad]
                return
            self.allocate()  # what it has may be the last gradient
        view = self.views[place]
        if grad is None:
            view.zero_()
        elif grad is not view:
            view.copy_(grad)

    def put_zeros(self) -> None:
        """Take part without gradients."""
        if self.takes_gradient:
            self.allocate()
        self.flat.zero_()

    def launch(self, group: ProcessGroup) -> None:
        """Begin to sum over the ranks. They have agreed on sizes when the module was wrapped."""
        self.pending = group.ranks.start_all_reduce(array_of(self.flat), ReduceOp.SUM, waits=False, is_agreed=True)

    def move_on(self) -> None:
        """Give the messages a moment: MPI has no thread that would move them while backward goes on.

        The futures of hooks are left alone. They may send something once they are complete, which has to come in the
        same order on all ranks.
        """
        if self.pending is not None:
            self.pending.is_done()

    def finish(self, divisor: int) -> None:
        """Wait for the sum, and divide it, or for what a hook gives."""
        if self.future is not None:
            found = result_of(self.future, self.flat)
            if found is not self.flat:
                self.flat.copy_(found)
            return
        assert self.pending is not None
        self.pending.wait()
        self.flat.div_(divisor)


def is_message(grad: Any, parameter: Any) -> bool:
    """Whether a gradient can be sent from its memory, and be the sum of all afterwards."""
    return (
        grad is not None
        and grad.layout is strided
        and grad.dtype == parameter.dtype
        and grad.is_contiguous()
        and not grad.requires_grad
    )


def buckets_of(parameters: Sequence[Any], cap: float, as_views: bool) -> list[Bucket]:
    """Buckets of at most `cap` bytes, each of one dtype, in the order in which backward fills them."""
    found: list[list[Any]] = []
    filling: dict[Any, list[Any]] = {}
    room: dict[Any, float] = {}
    for p in reversed(parameters):
        nbytes = p.numel() * p.element_size()
        if nbytes > _FIRST:
            found.append([p])
            continue
        if room.get(p.dtype, -1.0) < nbytes:
            room[p.dtype] = cap if found else min(cap, _FIRST)
            filling[p.dtype] = []
            found.append(filling[p.dtype])
        filling[p.dtype].append(p)
        room[p.dtype] -= nbytes
    turn = {id(p): i for i, p in enumerate(reversed(parameters))}
    return [Bucket(one, as_views) for one in sorted(found, key=lambda one: turn[id(one[-1])])]
