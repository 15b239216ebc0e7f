"""Reductions of consecutive slices, in segments of any lengths.

The segment of each slice follows from its place among the ends of the segments; the rest is a reduction by groups.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradsmith.generated import cat, cumsum, diff, masked_fill, scatter_reduce, searchsorted, where
from gradsmith.runtime.tensors.factories.creation import arange
from gradsmith.runtime.tensors.factories.python_data import is_tensor

if TYPE_CHECKING:
    from gradsmith.generated.tensor import Tensor

__all__ = ["segment_reduce"]

# PyTorch's names of the reductions -> what a segment without slices is.
_OF_NOTHING = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
_OLDER = {"max": "amax", "min": "amin"}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Sums, means, products or extrema of segments of consecutive slices.

    Parameters
    ----------
    data : Tensor
        Of a real floating dtype.
    reduce : {"sum", "mean", "prod", "max", "min"}
        Also "amax" and "amin", which are the last two.
    lengths : Tensor, optional
        How many slices each segment has: integers along the last dimension, before which it has the dimensions of
        `data` before `axis`.
    indices : None
        PyTorch has no such reduction yet.
    offsets : Tensor, optional
        In place of `lengths`, the places where segments begin and, last of all, where the last one ends.
    axis : int, optional
        The dimension along which the slices lie: the last one of `lengths`.
    unsafe : bool, optional
        Leave out the check that lengths are not negative and sum to the size of the dimension, which reads them.
    initial : number, optional
        What the reduction of each segment begins with.

    Returns
    -------
    Tensor
        Of the shape of `data`, with one slice for each segment. One of no slices is `initial` or, without it, 0 of a
        sum, 1 of a product, NaN of a mean, and minus infinity or infinity of a maximum or minimum. Equal extrema get
        equal parts of the gradient.

    Raises
    ------
    RuntimeError
        Neither `lengths` nor `offsets` is given, or they do not fit `data`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.segment_reduce(gs.tensor([1.0, 2.0, 3.0, 4.0]), "max", lengths=gs.tensor([3, 1]))
    tensor([3., 4.])
    """
    op = _OLDER.get(reduce, reduce)
    dim = _checked(data, op, lengths, indices, offsets, axis, unsafe)
    ends = _ends(lengths) if offsets is None else offsets
    slots = ends.shape[-1] + 1  # one before the segments and one after them, for slices that are in none
    start = _OF_NOTHING[op] if initial is None or op in ("amax", "amin") else initial
    holders = data.new_full((*data.shape[:dim], slots, *data.shape[dim + 1 :]), start)
    reduced = scatter_reduce(
        holders,
        dim,
        _slots(data, ends, dim),
        data,
        "sum" if op == "mean" else op,
        include_self=op in ("sum", "mean", "prod"),
    ).narrow(dim, 1, slots - 2)
    if op == "mean":
        return reduced / _divisors(ends, data.ndim, initial is not None)
    if initial is None or op in ("sum", "prod"):
        return reduced
    return where(reduced < initial if op == "amax" else reduced > initial, data.new_full((), initial), reduced)


def _ends(lengths: Any) -> Tensor:
    return cat([lengths.new_zeros((*lengths.shape[:-1], 1)), cumsum(lengths, -1)], -1)


def _slots(data: Tensor, ends: Tensor, dim: int) -> Tensor:
    """For each element the number of its segment, counted from 1."""
    places = arange(data.shape[dim], device=data.device).expand(data.shape[: dim + 1]).contiguous()
    found = searchsorted(ends.contiguous(), places.to(ends.dtype), right=True)
    return found.reshape(*found.shape, *[1] * (data.ndim - dim - 1)).expand(data.shape)


def _divisors(ends: Tensor, ndim: int, has_initial: bool) -> Tensor:
    lengths = diff(ends)
    lengths = masked_fill(lengths, lengths == 0, 1) if has_initial else lengths
    return lengths.reshape(*lengths.shape, *[1] * (ndim - lengths.ndim))


# ---- checks


def _checked(
    data: Tensor,
    op: str,
    lengths: Tensor | None,
    indices: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    unsafe: bool,
) -> int:
    """The dimension that is meant, of arguments that fit each other."""
    if not is_tensor(data):
        raise TypeError(f"segment_reduce(): argument 'data' (position 1) must be Tensor, not {type(data).__name__}")
    if not data.is_floating_point():
        raise RuntimeError(f"segment_reduce(): expected data of a real floating dtype, got {data.dtype}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported; give lengths or offsets")
    if op not in _OF_NOTHING:
        raise RuntimeError(f"segment_reduce(): reduce argument must be either sum, prod, mean, max or min, got {op}")
    name, found = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    if found is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined")
    if not -data.ndim <= axis < data.ndim:
        raise IndexError(
            f"segment_reduce(): Dimension out of range (expected to be in range of [{-data.ndim}, {data.ndim - 1}], "
            f"but got {axis})"
        )
    _expect_segments(name, found, data, axis % data.ndim)
    if lengths is not None and offsets is None and not unsafe and not lengths.is_meta:
        _expect_whole(lengths, data.shape[axis])
    return axis % data.ndim


def _expect_segments(name: str, found: Tensor, data: Tensor, dim: int) -> None:
    if found.dtype.name not in ("int32", "int64"):
        raise RuntimeError(f"segment_reduce(): expected {name} of dtype int32 or int64, got {found.dtype}")
    if found.ndim != dim + 1 or found.shape[:-1] != data.shape[:dim]:
        raise RuntimeError(
            f"segment_reduce(): expected {name} of shape {[*data.shape[:dim], 'segments']}, for data of shape "
            f"{list(data.shape)} and axis {dim}, got {list(found.shape)}"
        )
    if name == "offsets" and found.shape[-1] == 0:
        raise RuntimeError("segment_reduce(): expected offsets to have at least one place, that of the end")


def _expect_whole(lengths: Tensor, size: int) -> None:
    if (lengths < 0).any():
        raise RuntimeError("segment_reduce(): lengths contains negative value!")
    if (lengths.sum(-1) != size).any():
        raise RuntimeError(
            f"segment_reduce(): Expected all rows of lengths along axis to sum to {size}, the size of data there, when "
            f"!unsafe, got {lengths.sum(-1).tolist()}"
        )
