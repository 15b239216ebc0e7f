"""Where a computation that all ranks do alike becomes one that is divided among them, and back.

Note [Replicated values]

Outside of a parallel region all ranks compute the same numbers, the loss included, and each backward is of that one
loss. The gradient of a replicated value is then the same for all ranks, and is not added up over them: other than for
the collectives of `distributed.nn.functional`, whose losses are each rank's own.
"""

from __future__ import annotations

from typing import Any

from gradsmith.autograd import Function
from gradsmith.distributed.nn import functional as collectives
from gradsmith.distributed.world import group_of

__all__ = ["enter_parallel_region", "gather_from_ranks", "leave_parallel_region", "split_among_ranks"]


def enter_parallel_region(x: Any, group: Any = None) -> Any:
    """The replicated tensor itself; its gradient is the sum of what the ranks contribute to it."""
    return _Enter.apply(x, group_of(group, "enter_parallel_region"))


def leave_parallel_region(x: Any, group: Any = None) -> Any:
    """Sum of the ranks' tensors, which is replicated; the gradient of each is that of the sum."""
    return _Leave.apply(x, group_of(group, "leave_parallel_region"))


def split_among_ranks(x: Any, dim: int = -1, group: Any = None) -> Any:
    """This rank's part of a replicated tensor along a dimension; its gradient is put together again."""
    return _Split.apply(x, dim, group_of(group, "split_among_ranks"))


def gather_from_ranks(x: Any, dim: int = -1, group: Any = None) -> Any:
    """The ranks' tensors joined along a dimension, which is replicated; the gradient of each is its part."""
    return _Gather.apply(x, dim, group_of(group, "gather_from_ranks"))


class _Enter(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return leave_parallel_region(grad, ctx.group), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return tangent.view_as(tangent)


class _Leave(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        ctx.group = group
        return collectives.all_reduce(x, group=group)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return enter_parallel_region(grad, ctx.group), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return collectives.all_reduce(tangent, group=ctx.group)


class _Split(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, dim: int, group: Any) -> Any:
        ctx.group, ctx.dim = group, dim
        return own_part(x, dim, group).clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return gather_from_ranks(grad, ctx.dim, ctx.group), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        return own_part(tangent, ctx.dim, ctx.group).clone()


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, dim: int, group: Any) -> Any:
        ctx.group, ctx.dim = group, dim
        return joined(x, dim, group)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return split_among_ranks(grad, ctx.dim, ctx.group), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        return joined(tangent, ctx.dim, ctx.group)


def own_part(x: Any, dim: int, group: Any) -> Any:
    """A view of this rank's part.

    Raises
    ------
    RuntimeError
        The dimension can't be divided among the ranks.
    """
    if x.shape[dim] % group.size():
        raise RuntimeError(
            f"dimension {dim} of a tensor of shape {tuple(x.shape)} can't be divided among {group.size()} ranks"
        )
    return x.chunk(group.size(), dim)[group.rank()]


def joined(x: Any, dim: int, group: Any) -> Any:
    """The tensors of all ranks along a dimension."""
    moved = collectives.all_gather_into_tensor(x.movedim(dim, 0).contiguous(), group)
    return moved.movedim(0, dim).contiguous()
