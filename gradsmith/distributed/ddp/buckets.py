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
from gradsmith.runtime.tensors.factories.creation import zeros

__all__ = ["Bucket", "buckets_of"]

# The gradients of the last layers are there first: a small first bucket is on its way while the next fills.
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
    """

    def __init__(self, parameters: list[Any]) -> None:
        self.parameters = parameters
        self.flat = zeros(sum(p.numel() for p in parameters), dtype=parameters[0].dtype)
        self.views = []
        start = 0
        for p in parameters:
            self.views.append(self.flat[start : start + p.numel()].view(p.shape))
            start += p.numel()
        self.missing: set[int] = set()
        self.pending: Running | None = None
        self.future: Future[Any] | None = None  # what a communication hook has returned, instead of `pending`

    def reset(self) -> None:
        """Before a backward: no gradient is there yet."""
        self.missing = set(range(len(self.parameters)))
        self.pending = self.future = None

    def put(self, place: int) -> None:
        """Take the gradient of a parameter, or zeros where it has none."""
        grad, view = self.parameters[place].grad, self.views[place]
        if grad is None:
            view.zero_()
        elif grad is not view:
            view.copy_(grad)
        self.missing.discard(place)

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


def buckets_of(parameters: Sequence[Any], cap: float) -> list[Bucket]:
    """Buckets of at most `cap` bytes, from the last parameter to the first, each of one dtype."""
    found: list[list[Any]] = []
    sizes: list[int] = []
    open_buckets: dict[Any, int] = {}
    for p in reversed(parameters):
        nbytes = p.numel() * p.element_size()
        at = open_buckets.get(p.dtype)
        limit = cap if at else min(cap, _FIRST)
        if at is None or sizes[at] + nbytes > limit:
            at = open_buckets[p.dtype] = len(found)
            found.append([])
            sizes.append(0)
        found[at].append(p)
        sizes[at] += nbytes
    return [Bucket(one) for one in found]
