"""Collectives that return new tensors and are recorded.

Each rank calls ``backward()`` for a loss of its own, and the gradients are those of the sum of all ranks' losses. A
loss that all ranks have in common, computed after an `all_reduce`, is to be divided by their number, or used by one of
them.

They compose with all derivatives: with forward mode, with derivatives of derivatives and with checkpoints, as long as
all ranks do the same. `func.vmap` would call them once for each slice, which they refuse: use a tensor with one
dimension more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.operands import expect_tensor
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.distributed.world import group_of
from gradsmith.generated import collectives as table
from gradsmith.generated import stack
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather",
    "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "send", "shift",
]  # fmt: skip


def all_reduce(tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Any:
    """Sum of the tensors of all ranks, or their average.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape for all ranks.
    op : ReduceOp
        `SUM` or `AVG`; the others have no gradient.
    group : ProcessGroup, optional
        Default: the world.

    Returns
    -------
    Tensor
        The same for all ranks. Its gradient is the sum of the ranks' gradients.

    Raises
    ------
    RuntimeError
        `op` is another one and the tensor requires grad, or the call is inside of `func.vmap`.
    DistBackendError
        The ranks do not all call it with the same shape.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributed.init_process_group()
    >>> x = gs.ones(2, requires_grad=True)
    >>> gs.distributed.nn.functional.all_reduce(x)
    tensor([1., 1.], grad_fn=<AllReduceBackward0>)
    >>> gs.distributed.destroy_process_group()
    """
    group = _group("all_reduce", tensor, group)
    if op is ReduceOp.SUM:
        return table.all_reduce(tensor, group)
    if op is ReduceOp.AVG:
        op.check("all_reduce", tensor.dtype)
        return table.all_reduce(tensor, group) / group.size()
    return _without_gradient("all_reduce", tensor, op, group)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of one rank. Its gradient there is the sum of all gradients, and zero for the others' tensors."""
    group = _group("broadcast", tensor, group)
    return table.broadcast_from(tensor, group.rank_in_group(src, "broadcast"), group)


def reduce(tensor: Any, dst: int, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Any:
    """Sum of the tensors of all ranks, or their average, at one rank; zeros at the others."""
    group = _group("reduce", tensor, group)
    if op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise RuntimeError(f"reduce: ReduceOp.{op.name} has no gradient; distributed.reduce computes it in place")
    total = table.reduce_to(tensor, group.rank_in_group(dst, "reduce"), group)
    return total / group.size() if op is ReduceOp.AVG else total


def all_gather_into_tensor(tensor: Any, group: Any = None) -> Any:
    """The tensors of all ranks, one after the other along the first dimension."""
    group = _group("all_gather_into_tensor", tensor, group)
    return table.all_gather(_with_a_dimension(tensor), group)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all ranks, which have the same shape."""
    group = _group("all_gather", tensor, group)
    return tuple(table.all_gather(tensor.unsqueeze(0), group).unbind(0))


def reduce_scatter_tensor(tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Any:
    """Sum of the tensors of all ranks, or their average, of which each rank has a part of the first dimension."""
    group = _group("reduce_scatter_tensor", tensor, group)
    if op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise RuntimeError(
            f"reduce_scatter: ReduceOp.{op.name} has no gradient; distributed.reduce_scatter has it in place"
        )
    part = table.reduce_scatter(tensor, group)
    return part / group.size() if op is ReduceOp.AVG else part


def reduce_scatter(tensors: Sequence[Any], op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Any:
    """Sum of what all ranks have for this one: the `r`-th of the tensors of each is for rank `r`."""
    return reduce_scatter_tensor(stack(list(tensors)), op, group).squeeze(0)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all ranks at one rank, and as many zeros at the others."""
    group = _group("gather", tensor, group)
    return tuple(table.gather_to(tensor.unsqueeze(0), group.rank_in_group(dst, "gather"), group).unbind(0))


def scatter(tensors: Sequence[Any], src: int = 0, group: Any = None) -> Any:
    """The `r`-th of the tensors of one rank, for rank `r`; of the others' tensors the shapes count."""
    tensor = stack(list(tensors))
    group = _group("scatter", tensor, group)
    return table.scatter_from(tensor, group.rank_in_group(src, "scatter"), group).squeeze(0)


def all_to_all_single(tensor: Any, group: Any = None) -> Any:
    """From each rank a part of the first dimension, which is divided among the ranks."""
    group = _group("all_to_all_single", tensor, group)
    return table.all_to_all(tensor, group)


def all_to_all(tensors: Sequence[Any], group: Any = None) -> tuple[Any, ...]:
    """From each rank the tensor that it has for this one; all have the same shape."""
    return tuple(all_to_all_single(stack(list(tensors)), group).unbind(0))


def shift(tensor: Any, steps: int = 1, periodic: bool = False, group: Any = None) -> Any:
    """The tensor of the rank so many steps before.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape for all ranks.
    steps : int
        Rank `r` has what rank ``r - steps`` gives.
    periodic : bool
        The last rank is followed by the first; otherwise those without a rank before have zeros.
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
        Its gradient is shifted back.
    """
    group = _group("shift", tensor, group)
    return table.shift_ranks(tensor, steps, periodic, group)


def send(tensor: Any, dst: int, group: Any = None) -> Any:
    """Send a tensor to another rank, which calls `recv`.

    Returns
    -------
    Tensor
        Zeros of the same shape. Backward comes by them: they have to be used, for instance added to the loss, so that
        the gradient is waited for.
    """
    group = _group("send", tensor, group)
    return table.send_recv(tensor, group.rank(), _other(group, "send", dst), group)


def recv(like: Any, src: int, group: Any = None) -> Any:
    """Receive a tensor from another rank, which calls `send`.

    Parameters
    ----------
    like : Tensor
        Says the shape and the dtype. If it requires grad, what is received is recorded, and backward sends the
        gradient.
    src : int
    group : ProcessGroup, optional
    """
    group = _group("recv", like, group)
    return table.send_recv(like, _other(group, "recv", src), group.rank(), group)


def _other(group: ProcessGroup, op: str, rank: int) -> int:
    found = group.rank_in_group(rank, op)
    if found == group.rank() and group.size() > 1:
        raise ValueError(f"{op}: rank {rank} is this rank itself")
    return found


def _group(op: str, tensor: Any, group: Any) -> ProcessGroup:
    """The group, once it is known that the tensor can be sent."""
    if is_batched_tensor(expect_tensor(op, "tensor", tensor)):
        raise RuntimeError(
            f"{op} can't be called inside of func.vmap: each slice would be a message of its own. Call it with a "
            f"tensor that "
            "has one dimension more"
        )
    return group_of(group, op)


def _without_gradient(op: str, tensor: Tensor, how: ReduceOp, group: ProcessGroup) -> Tensor:
    if tensor.requires_grad:
        raise RuntimeError(
            f"{op}: ReduceOp.{how.name} has no gradient, and the tensor requires grad: detach it, or use ReduceOp.SUM"
        )
    from gradsmith.distributed import collectives

    found = tensor.clone()
    collectives.all_reduce(found, how, group)
    return found


def _with_a_dimension(tensor: Tensor) -> Tensor:
    return tensor if tensor.ndim else tensor.reshape(1)
