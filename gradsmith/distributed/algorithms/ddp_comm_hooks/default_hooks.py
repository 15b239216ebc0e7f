"""The average of the ranks' gradients, as it is or in half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.distributed.collectives import all_gather_into_tensor, all_reduce
from gradsmith.distributed.ddp.grad_bucket import GradBucket
from gradsmith.distributed.operands import array_of
from gradsmith.distributed.work import Work
from gradsmith.distributed.world import ProcessGroup, group_of
from gradsmith.futures import Future
from gradsmith.runtime.arrays.dtypes import float16, float32
from gradsmith.runtime.tensors.factories.creation import empty, zeros

__all__ = ["allreduce_hook", "fp16_compress_hook", "fp16_compress_wrapper"]

Hook = Callable[[Any, GradBucket], Future[Any]]


def allreduce_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Any]:
    """Average the gradients over the ranks, as `DistributedDataParallel` does without a hook.

    Parameters
    ----------
    process_group : ProcessGroup or None
        Default: the world.
    bucket : GradBucket

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.distributed.algorithms.ddp_comm_hooks import default_hooks
    >>> gs.distributed.init_process_group()
    >>> model = gs.nn.parallel.DistributedDataParallel(gs.nn.Linear(2, 1))
    >>> model.register_comm_hook(None, default_hooks.allreduce_hook)
    >>> gs.distributed.destroy_process_group()
    """
    group = group_of(process_group, "allreduce_hook")
    return summed(bucket.buffer().div_(group.size()), group)


def summed(tensor: Any, group: ProcessGroup) -> Future[Any]:
    """The tensor itself, once it is the sum over the ranks."""
    work = all_reduce(tensor, group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda future: future.value()[0])


def fp16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Any]:
    """Average the gradients over the ranks in half precision, which halves the bytes that are sent.

    Parameters
    ----------
    process_group : ProcessGroup or None
        Default: the world.
    bucket : GradBucket

    Notes
    -----
    MPI adds float32 and float64 alone, or others slowly. So each rank is sent its part of the gradients of all, adds
    these up in float32, and sends the sum to all: in bytes an `all_reduce`, and rounded twice, however many ranks there
    are. NumPy takes some 5 ns to convert a number, and more where the result is below 6e-5: it pays between machines,
    and not within one.
    """
    group = group_of(process_group, "fp16_compress_hook")
    gradients = bucket.buffer()
    n, length = group.size(), -(-gradients.shape[0] // group.size())
    own = zeros(n * length, dtype=float16)
    own[: gradients.shape[0]].copy_(gradients / n)
    parts = empty(n * length, dtype=float16)
    sizes = [length] * n
    pending = group.ranks.start_all_to_all(array_of(parts), array_of(own), sizes, sizes, waits=False)

    def add_and_gather(_: Future[Any]) -> Any:
        total = parts.view(n, length).to(float32).sum(0).to(float16)
        all_gather_into_tensor(own, total, group=group)
        return gradients.copy_(own[: gradients.shape[0]])

    return Work(pending).get_future().then(add_and_gather)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives another one the gradients in half precision, and takes its result back.

    Parameters
    ----------
    hook : callable
        `powerSGD_hook`, for example.
    """

    def fp16_compress_wrapper_hook(hook_state: Any, bucket: GradBucket) -> Future[Any]:
        gradients = bucket.buffer()
        bucket.set_buffer(gradients.to(float16))
        return hook(hook_state, bucket).then(lambda future: gradients.copy_(future.value()))

    return fp16_compress_wrapper_hook
