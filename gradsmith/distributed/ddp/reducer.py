"""Sums gradients over the ranks while backward goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradsmith.autograd.engine import queue_callback
from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributed.ddp.buckets import Bucket, buckets_of
from gradsmith.distributed.ddp.grad_bucket import GradBucket
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.operands import array_of
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.futures import Future
from gradsmith.runtime.arrays.dtypes import int32
from gradsmith.runtime.tensors.factories.creation import zeros
from gradsmith.utils.pytree import flatten

__all__ = ["Reducer"]


class Reducer:
    """The buckets of a module's parameters, and the hooks that fill them.

    All ranks launch the buckets in the same order, whichever is full first.

    Parameters
    ----------
    named : list of (str, Parameter)
    group : ProcessGroup
    cap : float
        Bytes of a bucket.
    as_views : bool
        Gradients are parts of the buckets.
    finds_unused : bool
        Parameters that the outputs do not depend on are not waited for.
    """

    def __init__(
        self, named: list[tuple[str, Any]], group: ProcessGroup, cap: float, as_views: bool, finds_unused: bool
    ) -> None:
        self.group, self.as_views, self.finds_unused = group, as_views, finds_unused
        self.names = {id(p): name for name, p in named}
        self.buckets = buckets_of([p for _, p in named], cap, as_views)
        self.syncs = True
        self.divisor = group.size()
        self.hook: Callable[[GradBucket], Future[Any]] | None = None  # averages a bucket, instead of an all_reduce
        self._places = {id(p): (b, i) for b in self.buckets for i, p in enumerate(b.parameters)}
        self._used = zeros(len(named), dtype=int32)
        self._number = {id(p): i for i, (_, p) in enumerate(named)}
        self._is_prepared = self._has_begun = False
        self._next = 0
        for _, p in named:
            p.register_post_accumulate_grad_hook(self._take)

    def prepare(self, outputs: Any) -> None:
        """After a forward that will be differentiated."""
        for bucket in self.buckets:
            bucket.reset()
        self._next, self._is_prepared, self._has_begun = 0, True, False
        if self.finds_unused:
            self._used.fill_(1)
            reached = {id(p) for p in parameters_behind(flatten(outputs)[0])}
            for p in (p for bucket in self.buckets for p in bucket.parameters if id(p) not in reached):
                self._used[self._number[id(p)]] = 0
                bucket, place = self._places[id(p)]
                with no_grad():
                    bucket.put(place)

    def _take(self, parameter: Any) -> None:
        """A gradient is complete."""
        if not (self.syncs and self._is_prepared):
            return
        if not self._has_begun:
            self._has_begun = True
            queue_callback(self._finish)
        bucket, place = self._places[id(parameter)]
        with no_grad():
            bucket.put(place)
        self._launch_full()
        for bucket in self.buckets[: self._next]:
            bucket.move_on()

    def _launch_full(self) -> None:
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            self._launch(self._next)
            self._next += 1

    def _launch(self, number: int) -> None:
        bucket = self.buckets[number]
        if self.hook is None:
            bucket.launch(self.group)
            return
        is_last = number == len(self.buckets) - 1
        with no_grad():
            bucket.future = self.hook(GradBucket(number, bucket.flat, bucket.parameters, is_last))

    def _finish(self) -> None:
        """At the end of backward: gradients become the averages."""
        self._is_prepared = False
        self._launch_full()
        if self._next < len(self.buckets):
            raise self._unused_error()
        used = self._used_anywhere()
        with no_grad():
            for bucket in self.buckets:
                bucket.finish(self.divisor)
                self._give_back(bucket, used)

    def _give_back(self, bucket: Bucket, used: Any) -> None:
        for p, view in zip(bucket.parameters, bucket.views):
            if used is not None and not used[self._number[id(p)]]:
                continue  # no rank has a gradient
            if self.as_views:
                p.grad = view
            elif p.grad is None:
                p.grad = view.clone()
            elif p.grad is not view:
                p.grad.copy_(view)

    def _used_anywhere(self) -> Any:
        """Which parameters some rank has used; None if all are."""
        if not self.finds_unused:
            return None
        return self.sum_of_used(array_of(self._used).copy())

    def sum_of_used(self, used: Any) -> Any:
        self.group.ranks.start_all_reduce(used, ReduceOp.SUM, is_agreed=True).wait()
        return used

    def take_part(self) -> None:
        """A backward of the others, without gradients of this rank's own."""
        with no_grad():
            for number, bucket in enumerate(self.buckets):
                bucket.reset()
                bucket.put_zeros()
                self._launch(number)
            if self.finds_unused:
                self.sum_of_used(array_of(self._used.zero_()).copy())
            for bucket in self.buckets:
                bucket.finish(self.divisor)

    def _unused_error(self) -> RuntimeError:
        names = [self.names[id(b.parameters[i])] for b in self.buckets for i in sorted(b.missing)]
        return RuntimeError(
            f"DistributedDataParallel: the loss does not depend on {', '.join(names)}, whose gradients the other "
            f"ranks may wait "
            "for. Give find_unused_parameters=True, or use all parameters in each forward"
        )


def parameters_behind(outputs: Iterable[Any]) -> list[Any]:
    """The leaves that tensors depend on."""
    todo = [out.grad_fn for out in outputs if getattr(out, "grad_fn", None) is not None]
    seen, found = set(todo), []
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            found.append(node.variable)
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen.add(other)
                todo.append(other)
    return found
