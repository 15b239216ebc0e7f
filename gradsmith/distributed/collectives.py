"""PyTorch's collectives: they write to the tensors that they are given.

All ranks of a group call them in the same order. With ``async_op=True`` they return a `Work` and go on by themselves.
Ranks in arguments are those of the world; `group_src` and `group_dst` are those of the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from gradsmith.distributed.errors import DistBackendError
from gradsmith.distributed.groups.exchanges import Running
from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.operands import array_of, changed, check_like, expect_tensor, is_recorded, written
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.distributed.work import Then, Work, handle
from gradsmith.distributed.world import group_of, is_member, seconds_of

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single", "barrier", "broadcast",
    "gather", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
]  # fmt: skip


def all_reduce(tensor: Any, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Sum of the tensors of all ranks, in place, or what `op` says.

    Parameters
    ----------
    tensor : Tensor
        Of the same size for all ranks. If it has a `grad_fn`, the sum or average is recorded, as by
        `distributed.nn.functional.all_reduce`.
    op : ReduceOp
    group : ProcessGroup, optional
        Default: the world.
    async_op : bool
        Return at once.

    Returns
    -------
    Work or None

    Raises
    ------
    DistBackendError
        Another rank calls something else, has ended, or does not come within the timeout of the group.
    RuntimeError
        `op` is not defined for the dtype.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributed.init_process_group()
    >>> x = gs.ones(2)
    >>> gs.distributed.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> gs.distributed.destroy_process_group()
    """
    if not is_member(group, "all_reduce"):
        return None
    ranks = group_of(group, "all_reduce").ranks
    if is_recorded(expect_tensor("all_reduce", "tensor", tensor)):
        _recorded_all_reduce(tensor, op, group, async_op)
        return None
    return handle(ranks.start_all_reduce(changed(tensor, is_kept=async_op), op, not async_op), async_op, tensor)


def _recorded_all_reduce(tensor: Any, op: ReduceOp, group: Any, async_op: bool) -> None:
    from gradsmith.distributed.nn import functional

    if async_op:
        raise RuntimeError("all_reduce: async_op=True is not recorded, and the tensor has a grad_fn or a tangent")
    tensor.copy_(functional.all_reduce(tensor, op, group))


def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """The tensor of one rank, in place for all.

    Parameters
    ----------
    tensor : Tensor
    src : int
        A rank of the world.
    group, async_op, group_src : optional
    """
    if not is_member(group, "broadcast"):
        return None
    group = group_of(group, "broadcast")
    source = _rank(group, "broadcast", src, group_src)
    (x,) = written("broadcast", [expect_tensor("broadcast", "tensor", tensor)])
    return handle(group.ranks.start_broadcast(x, source, not async_op), async_op, tensor)


def reduce(
    tensor: Any, dst: int | None = None, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Sum of the tensors of all ranks, or what `op` says, in place for one; those of the others stay as they are."""
    if not is_member(group, "reduce"):
        return None
    group = group_of(group, "reduce")
    target = _rank(group, "reduce", dst, group_dst)
    (x,) = written("reduce", [expect_tensor("reduce", "tensor", tensor)])
    return handle(group.ranks.start_reduce(x, op, target, not async_op), async_op, tensor)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """The tensors of all ranks in one tensor, one after the other or stacked along a new first dimension.

    Raises
    ------
    ValueError
        `output_tensor` has neither of the two shapes, or another dtype.
    """
    if not is_member(group, "all_gather_into_tensor"):
        return None
    group = group_of(group, "all_gather_into_tensor")
    x = array_of(expect_tensor("all_gather_into_tensor", "input_tensor", input_tensor))
    expect_tensor("all_gather_into_tensor", "output_tensor", output_tensor)
    _check_joined("all_gather_into_tensor", "output_tensor", output_tensor, x, group.size())
    (out,) = written("all_gather_into_tensor", [output_tensor])
    return handle(group.ranks.start_all_gather(out, x, not async_op), async_op, output_tensor)


def all_gather(tensor_list: Sequence[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """The tensors of all ranks, each in a tensor of its own."""
    if not is_member(group, "all_gather"):
        return None
    group = group_of(group, "all_gather")
    x = array_of(expect_tensor("all_gather", "tensor", tensor))
    outputs = _outputs("all_gather", "tensor_list", tensor_list, x, group.size())
    joined = np.empty((group.size(), *x.shape), x.dtype)
    pending = group.ranks.start_all_gather(joined, x, not async_op)
    return handle(Then(pending, lambda: _divide(joined, outputs)), async_op, *tensor_list)


def reduce_scatter_tensor(
    output: Any, input: Any, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """A part of the sum of the tensors of all ranks, or what `op` says: the first dimension is divided among them.

    Raises
    ------
    ValueError
        `input` is neither `output` times the number of ranks nor a stack of as many.
    """
    if not is_member(group, "reduce_scatter_tensor"):
        return None
    group = group_of(group, "reduce_scatter_tensor")
    x = array_of(expect_tensor("reduce_scatter_tensor", "input", input))
    expect_tensor("reduce_scatter_tensor", "output", output)
    _check_joined("reduce_scatter_tensor", "input", input, array_of(output), group.size())
    (out,) = written("reduce_scatter_tensor", [output])
    return handle(group.ranks.start_reduce_scatter(out, x, op, not async_op), async_op, output)


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The sum of what all ranks have for this one, or what `op` says."""
    if not is_member(group, "reduce_scatter"):
        return None
    group = group_of(group, "reduce_scatter")
    like = array_of(expect_tensor("reduce_scatter", "output", output))
    x = np.stack(_inputs("reduce_scatter", "input_list", input_list, like, group.size()))
    (out,) = written("reduce_scatter", [output])
    return handle(group.ranks.start_reduce_scatter(out, x, op, not async_op), async_op, output)


def gather(
    tensor: Any, gather_list: Sequence[Any] | None = None, dst: int | None = None, group: Any = None,
    async_op: bool = False, group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """The tensors of all ranks in a list that one rank gives."""
    if not is_member(group, "gather"):
        return None
    group = group_of(group, "gather")
    target = _rank(group, "gather", 0 if dst is None and group_dst is None else dst, group_dst)
    x = array_of(expect_tensor("gather", "tensor", tensor))
    if group.rank() != target:
        if gather_list:
            raise ValueError("gather: Argument gather_list must NOT be specified on non-destination ranks.")
        return handle(group.ranks.start_gather(None, x, target, not async_op), async_op)
    if gather_list is None:
        raise ValueError("gather: Argument gather_list must be specified on destination rank.")
    outputs = _outputs("gather", "gather_list", gather_list, x, group.size())
    joined = np.empty((group.size(), *x.shape), x.dtype)
    pending = group.ranks.start_gather(joined, x, target, not async_op)
    return handle(Then(pending, lambda: _divide(joined, outputs)), async_op, *gather_list)


def scatter(
    tensor: Any, scatter_list: Sequence[Any] | None = None, src: int | None = None, group: Any = None,
    async_op: bool = False, group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """A tensor of the list that one rank gives, for each rank."""
    if not is_member(group, "scatter"):
        return None
    group = group_of(group, "scatter")
    source = _rank(group, "scatter", 0 if src is None and group_src is None else src, group_src)
    like = array_of(expect_tensor("scatter", "tensor", tensor))
    x = None
    if group.rank() == source:
        if not scatter_list:
            raise ValueError("scatter: Argument scatter_list must be specified on source rank.")
        x = np.stack(_inputs("scatter", "scatter_list", scatter_list, like, group.size()))
    elif scatter_list:
        raise ValueError("scatter: Argument scatter_list must NOT be specified on non-source ranks.")
    (out,) = written("scatter", [tensor])
    return handle(group.ranks.start_scatter(out, x, source, not async_op), async_op, tensor)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None, group: Any = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Each rank sends a part of `input` to each, and has the parts for it in `output`.

    Parameters
    ----------
    output, input : Tensor
    output_split_sizes, input_split_sizes : sequence of int, optional
        Parts of the first dimensions. Default: equal ones.
    group, async_op : optional

    Raises
    ------
    RuntimeError
        A first dimension can't be divided, or is not the sum of the sizes.
    DistBackendError
        What a rank sends is not what another one expects.
    """
    if not is_member(group, "all_to_all_single"):
        return None
    group = group_of(group, "all_to_all_single")
    x = array_of(expect_tensor("all_to_all_single", "input", input))
    out = array_of(expect_tensor("all_to_all_single", "output", output))
    if out.dtype != x.dtype or out.shape[1:] != x.shape[1:] or not x.ndim:
        raise ValueError(
            f"all_to_all_single: output, {out.dtype} of shape {out.shape}, should have the dtype and the further "
            f"dimensions of "
            f"input, {x.dtype} of shape {x.shape}"
        )
    sent = _parts("input", x, input_split_sizes, group.size())
    received = _parts("output", out, output_split_sizes, group.size())
    _expect_parts(group, sent, received)
    (out,) = written("all_to_all_single", [output])
    return handle(group.ranks.start_all_to_all(out, x, received, sent, not async_op), async_op, output)


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None, async_op: bool = False
) -> Work | None:
    """Each rank sends a tensor to each; their shapes may differ."""
    if not is_member(group, "all_to_all"):
        return None
    group = group_of(group, "all_to_all")
    for name, tensors in (("output_tensor_list", output_tensor_list), ("input_tensor_list", input_tensor_list)):
        if len(tensors) != group.size():
            raise ValueError(
                f"all_to_all: {name} should have a tensor for each of {group.size()} ranks, got {len(tensors)}"
            )
    inputs = [array_of(expect_tensor("all_to_all", "input_tensor_list", t)) for t in input_tensor_list]
    outputs = written("all_to_all", [expect_tensor("all_to_all", "output_tensor_list", t) for t in output_tensor_list])
    if len({array.dtype for array in (*inputs, *outputs)}) > 1:
        raise ValueError("all_to_all: all tensors should have the same dtype")
    x = np.concatenate([array.reshape(-1) for array in inputs])
    sent, received = ([array.size for array in arrays] for arrays in (inputs, outputs))
    out = np.empty(sum(received), x.dtype)
    _expect_parts(group, sent, received)
    pending = group.ranks.start_all_to_all(out, x, received, sent, not async_op)

    def divide() -> None:
        for part, to in zip(np.split(out, np.cumsum(received)[:-1]), outputs):
            to[...] = part.reshape(to.shape)

    return handle(Then(pending, divide), async_op, *output_tensor_list)


def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | float | None = None
) -> Work | None:
    """Wait until all ranks have called it, at most for `timeout` if it is given."""
    if not is_member(group, "barrier"):
        return None
    ranks = group_of(group, "barrier")
    if async_op or timeout is None:
        return handle(_start_barrier(ranks, "barrier", not async_op), async_op)
    _start_barrier(ranks, "barrier", waits=False).wait(seconds_of(timeout))
    return None


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait until all ranks have called it, at most for a time of its own.

    Raises
    ------
    DistBackendError
        Ranks have not come, which are named.
    """
    group = group_of(group, "monitored_barrier")
    pending = _start_barrier(group, "monitored_barrier", waits=False)
    pending.wait(None if timeout is None else seconds_of(timeout))


def _start_barrier(group: ProcessGroup, op: str, waits: bool) -> Running:
    return group.ranks.start(op, list, lambda: None, (), 0, waits)


# ---- helpers


def _rank(group: ProcessGroup, op: str, rank: int | None, group_rank: int | None) -> int:
    """The number in the group, given as one of the world or of the group."""
    if (rank is None) == (group_rank is None):
        raise ValueError(f"{op}: Must specify exactly one of the rank of the world and that of the group")
    if rank is not None:
        return group.rank_in_group(rank, op)
    if not 0 <= group_rank < group.size():  # type: ignore[operator]
        raise ValueError(f"{op}: Group rank {group_rank} is not part of group {group.group_name}")
    return int(group_rank)  # type: ignore[arg-type]


def _check_joined(op: str, name: str, joined: Any, one: Any, size: int) -> None:
    """`joined` has the elements of `size` arrays like `one`, along the first or a new dimension."""
    shapes = [(size, *one.shape)] + ([(size * one.shape[0], *one.shape[1:])] if one.ndim else [])
    if tuple(joined.shape) not in shapes or joined.dtype != one.dtype:
        raise ValueError(
            f"{op}: {name} should have dtype {one.dtype} and shape {' or '.join(map(str, shapes))} for {size} ranks, "
            f"but has dtype {joined.dtype} and shape {tuple(joined.shape)}"
        )


def _outputs(op: str, name: str, tensors: Sequence[Any], like: Any, size: int) -> list[Any]:
    """The arrays of tensors that are written to, one for each rank."""
    _inputs(op, name, tensors, like, size)
    return written(op, tensors)


def _inputs(op: str, name: str, tensors: Sequence[Any], like: Any, size: int) -> list[Any]:
    """The arrays of tensors, one for each rank."""
    if len(tensors) != size:
        raise ValueError(f"{op}: {name} should have a tensor for each of {size} ranks, but has {len(tensors)}")
    for tensor in tensors:
        check_like(op, f"each tensor of {name}", expect_tensor(op, name, tensor), like.shape, like.dtype)
    return [array_of(tensor) for tensor in tensors]


def _divide(joined: Any, outputs: Sequence[Any]) -> None:
    for out, part in zip(outputs, joined):
        out[...] = part


def _parts(name: str, x: Any, sizes: Sequence[int] | None, n: int) -> list[int]:
    """Numbers of elements of the parts of an array."""
    row = int(np.prod(x.shape[1:], dtype=np.int64))
    if sizes is None:
        if x.shape[0] % n:
            raise RuntimeError(
                f"all_to_all_single: the first dimension of {name} is {x.shape[0]}, which is no multiple of the "
                f"group's {n} "
                f"ranks: give {name}_split_sizes"
            )
        return [x.shape[0] // n * row] * n
    if len(sizes) != n or sum(sizes) != x.shape[0]:
        raise RuntimeError(
            f"all_to_all_single: {name}_split_sizes should be {n} numbers with the sum {x.shape[0]}, got {list(sizes)}"
        )
    return [int(size) * row for size in sizes]


def _expect_parts(group: ProcessGroup, sent: Sequence[int], received: Sequence[int]) -> None:
    """Each rank tells the others how much it sends them."""
    announced = np.empty(group.size(), np.int64)
    ones = [1] * group.size()
    group.ranks.start_all_to_all(announced, np.array(sent, np.int64), ones, ones).wait()
    for rank, (theirs, own) in enumerate(zip(announced.tolist(), received)):
        if theirs != own:
            raise DistBackendError(
                f"all_to_all: rank {group.members[rank]} sends {theirs} elements to rank "
                f"{group.members[group.rank()]}, which "
                f"expects {own}"
            )
