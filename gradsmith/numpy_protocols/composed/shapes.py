"""Shapes and arrangements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradsmith as gs
import gradsmith.numpy as gnp
from gradsmith.numpy_protocols.composed.operands import as_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "astype", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "copy", "expand_dims", "flip",
    "meshgrid", "ndim", "pad", "ravel", "real_if_close", "repeat", "reshape", "resize", "roll", "rollaxis", "shape",
    "size", "sliding_window_view", "squeeze", "tile", "transpose", "tril", "trim_zeros", "triu",
]  # fmt: skip


def tril(m: Any, k: int = 0) -> Any:
    return gs.tril(_as_rows(m), k)


def triu(m: Any, k: int = 0) -> Any:
    return gs.triu(_as_rows(m), k)


def _as_rows(m: Any) -> Any:
    """A vector is every row of a square matrix."""
    tensor = as_tensor(m)
    return tensor if tensor.ndim > 1 else tensor.reshape(1, -1).broadcast_to((tensor.numel(), tensor.numel()))


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Any:
    tensor = as_tensor(x)
    sizes = tuple(window_shape) if isinstance(window_shape, (list, tuple)) else (window_shape,)
    axes = np.lib.array_utils.normalize_axis_tuple(
        range(tensor.ndim) if axis is None else axis, tensor.ndim, allow_duplicate=True
    )
    if len(sizes) != len(axes):
        raise ValueError(f"Must provide as many window sizes as axes; got {len(sizes)} sizes and {len(axes)} axes")
    for dim, size in zip(axes, sizes):
        if size < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        if size > tensor.shape[dim]:
            raise ValueError("window shape cannot be larger than input array shape")
        tensor = tensor.unfold(dim, int(size), 1)
    return tensor


def shape(a: Any) -> tuple[int, ...]:
    return tuple(as_tensor(a).shape)


def ndim(a: Any) -> int:
    return int(as_tensor(a).ndim)


def size(a: Any, axis: Any = None) -> int:
    sizes = shape(a)
    axes = range(len(sizes)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(sizes[dim] for dim in axes)


def reshape(a: Any, shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    tensor = as_tensor(a)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if _is_fortran(order):
        found = _reversed(_reversed(tensor).reshape(tuple(reversed(sizes))))
    else:
        found = tensor.reshape(sizes)
    return found.clone() if copy else found


def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, (-1,), order)


def _is_fortran(order: str) -> bool:
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order == "F"


def _reversed(tensor: Any) -> Any:
    return tensor.permute(tuple(range(tensor.ndim))[::-1]) if tensor.ndim > 1 else tensor


def transpose(a: Any, axes: Any = None) -> Any:
    tensor = as_tensor(a)
    if axes is None:
        return _reversed(tensor)
    return tensor.permute(np.lib.array_utils.normalize_axis_tuple(axes, tensor.ndim))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    places = np.rollaxis(np.empty((1,) * as_tensor(a).ndim + (0,))[..., 0:], axis, start).ndim  # checks the arguments
    tensor = as_tensor(a)
    axis = axis % tensor.ndim
    start = start + tensor.ndim if start < 0 else start
    order = [dim for dim in range(places - 1) if dim != axis]
    order.insert(start - (axis < start), axis)
    return tensor.permute(tuple(order))


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without the axes, which have to be of one element; the op leaves others as they are."""
    return gnp.squeeze(a) if axis is None else gnp.squeeze(a, axis)


def expand_dims(a: Any, axis: Any) -> Any:
    tensor = as_tensor(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for dim in sorted(np.lib.array_utils.normalize_axis_tuple(axes, tensor.ndim + len(axes))):
        tensor = tensor.unsqueeze(dim)
    return tensor


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    if all(is_tensor(value) or np.asarray(value).dtype.kind in "biufc" for value in args):
        return gs.broadcast_arrays(*map(as_tensor, args))
    return np.broadcast_arrays(*(value.numpy() if is_tensor(value) else value for value in args))  # with text or None


def atleast_1d(*arys: Any) -> Any:
    return _each(gs.atleast_1d, arys)


def atleast_2d(*arys: Any) -> Any:
    return _each(gs.atleast_2d, arys)


def atleast_3d(*arys: Any) -> Any:
    return _each(gs.atleast_3d, arys)


def _each(function: Any, values: tuple[Any, ...]) -> Any:
    found = tuple(function(as_tensor(value)) for value in values)
    return found[0] if len(found) == 1 else found


def flip(m: Any, axis: Any = None) -> Any:
    tensor = as_tensor(m)
    axes = range(tensor.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return gs.flip(tensor, tuple(axes))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    tensor = as_tensor(a)
    if axis is None:
        return gs.roll(tensor.reshape(-1), int(np.sum(shift)), 0).reshape(tuple(tensor.shape))
    for by, dim in np.broadcast(shift, axis):
        tensor = gs.roll(tensor, int(by), int(dim))
    return tensor


def tile(A: Any, reps: Any) -> Any:
    return gs.tile(as_tensor(A), tuple(reps) if isinstance(reps, (tuple, list)) else (reps,))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    counts = repeats if isinstance(repeats, int) else np.asarray(repeats)
    if not isinstance(counts, int):
        if counts.size != 1:
            return gnp.repeat(a, counts, axis)
        counts = int(counts.ravel()[0])
    return gs.repeat_interleave(as_tensor(a), counts, axis)


def resize(a: Any, new_shape: Any) -> Any:
    tensor = as_tensor(a).reshape(-1)
    sizes = tuple(new_shape) if isinstance(new_shape, (tuple, list)) else (new_shape,)
    count = math.prod(sizes)
    if not tensor.numel():
        return gs.zeros(sizes, dtype=tensor.dtype)
    return tensor.repeat(-(-count // tensor.numel()) or 1)[:count].reshape(sizes)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    tensor = as_tensor(filt)
    if tensor.ndim != 1:
        raise TypeError(f"np.trim_zeros() of tensors takes a vector, got {tensor.ndim} dimensions")
    places = np.flatnonzero(tensor.detach().numpy())
    if not places.size:
        return tensor[:0]
    start = places[0] if "f" in trim.lower() else 0
    end = places[-1] + 1 if "b" in trim.lower() else tensor.shape[0]
    return tensor[int(start) : int(end)]


def copy(a: Any, order: str = "K") -> Any:
    return as_tensor(a).clone()


def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    return as_tensor(x).to(np.dtype(dtype), copy=copy)


def real_if_close(a: Any, tol: float = 100) -> Any:
    tensor = as_tensor(a)
    if not tensor.is_complex():
        return tensor
    limit = tol * np.finfo(tensor.dtype).eps if tol > 1 else tol
    return tensor.real if bool((tensor.detach().imag.abs() < limit).all()) else tensor


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [as_tensor(one).reshape(-1) for one in xi]
    count = len(vectors)
    places = [1, 0, *range(2, count)] if indexing == "xy" and count > 1 else list(range(count))
    grids = [
        vector.reshape(tuple(-1 if dim == place else 1 for dim in range(count)))
        for vector, place in zip(vectors, places)
    ]
    if sparse:
        return tuple(grid.clone() if copy else grid for grid in grids)
    return tuple(grid.clone() if copy else grid for grid in gs.broadcast_arrays(*grids)) if grids else ()


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    tensor = as_tensor(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(dim, pad_width.get(dim - tensor.ndim, (0, 0))) for dim in range(tensor.ndim)]
        pad_width = [(width, width) if isinstance(width, int) else width for width in pad_width]
    if callable(mode):
        raise TypeError("np.pad() of tensors takes the name of a mode, no function")
    widths = np.broadcast_to(np.asarray(pad_width), (tensor.ndim, 2)).tolist()
    return gs.pad(tensor, widths, mode, **kwargs)
