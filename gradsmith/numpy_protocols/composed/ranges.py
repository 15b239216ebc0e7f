"""Tensors like others, ranges between tensors, rounding and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.numpy.arguments import by_numpy
from gradsmith.numpy_protocols.composed.operands import as_inexact, as_tensor, is_recorded
from gradsmith.runtime.batching.batch import is_batched_tensor

__all__ = [
    "angle", "diff", "full_like", "geomspace", "gradient", "linspace", "logspace", "ones_like", "partition", "round",
    "sort_complex", "trapezoid", "zeros_like",
]  # fmt: skip


def zeros_like(a: Any = None, dtype: Any = None, order: str = "K", shape: Any = None, prototype: Any = None) -> Any:
    return _like(a if prototype is None else prototype, dtype, shape, gs.zeros, gs.zeros_like)


def ones_like(a: Any, dtype: Any = None, order: str = "K", shape: Any = None) -> Any:
    return _like(a, dtype, shape, gs.ones, gs.ones_like)


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", shape: Any = None) -> Any:
    if not is_recorded(fill_value):
        fill_value = fill_value.item() if isinstance(fill_value, np.generic) else fill_value
    found = _like(a, dtype, shape, gs.zeros, gs.zeros_like)
    if is_batched_tensor(found):
        return found.fill_(fill_value) if not is_recorded(fill_value) else found + as_tensor(fill_value).to(found.dtype)
    return as_tensor(fill_value).to(found.dtype).broadcast_to(tuple(found.shape)).clone()


def _like(a: Any, dtype: Any, shape: Any, make: Any, make_like: Any) -> Any:
    """In a `vmap` of the same slices, so that what differs from slice to slice can be written to it."""
    tensor = as_tensor(a)
    if shape is None and is_batched_tensor(tensor):
        return make_like(tensor.detach(), dtype=tensor.dtype if dtype is None else np.dtype(dtype))
    sizes = tuple(tensor.shape) if shape is None else tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return make(sizes, dtype=tensor.dtype if dtype is None else np.dtype(dtype), device=tensor.device)


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    first, last = as_inexact(as_tensor(start)), as_inexact(as_tensor(stop))
    parts = num - 1 if endpoint else num
    step = (last - first) / parts if parts > 0 else (last - first) * np.nan
    places = np.arange(num).reshape((-1,) + (1,) * max(first.ndim, last.ndim)).astype(step.real.dtype)
    found = first + places * (last - first) / parts if parts > 0 else first + places * (last - first)
    found = found.movedim(0, axis) if axis else found
    if dtype is not None:
        found = found.to(np.dtype(dtype))
    return (found, step) if retstep else found


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    found = gs.pow(base, linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.to(np.dtype(dtype))


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    first, last = as_inexact(as_tensor(start)), as_inexact(as_tensor(stop))
    ratio = linspace(gs.zeros_like(first.detach()), gs.log(last / first), num, endpoint, axis=axis)
    found = gs.exp(ratio) * (first.unsqueeze(axis) if first.ndim else first)
    return found if dtype is None else found.to(np.dtype(dtype))


def round(a: Any, decimals: int = 0) -> Any:
    return gs.round(as_tensor(a), decimals=decimals) if decimals else gs.round(as_tensor(a))


def angle(z: Any, deg: bool = False) -> Any:
    found = gs.angle(as_tensor(z))
    return found * (180 / np.pi) if deg else found


def sort_complex(a: Any) -> Any:
    """By real parts, then by imaginary ones: the order is NumPy's, of constants."""
    tensor = as_tensor(a)
    found = tensor if tensor.is_complex() else tensor.to(np.complex64 if tensor.dtype.itemsize <= 2 else np.complex128)
    return gs.take_along_axis(found, by_numpy(_complex_order, found.detach()), -1)


def _complex_order(values: Any) -> Any:
    return np.lexsort((values.imag, values.real))


def partition(a: Any, kth: Any, axis: int | None = -1) -> Any:
    """All in order, which is more than was asked for."""
    tensor = as_tensor(a)
    np.partition(np.empty(tensor.numel() if axis is None else tensor.shape[axis]), kth)  # checks the places
    return gs.sort(tensor.reshape(-1) if axis is None else tensor, -1 if axis is None else axis).values


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    tensor = as_tensor(a)
    ends = [None if end is None else _end(as_tensor(end), tensor, axis) for end in (prepend, append)]
    return gs.diff(tensor, n, axis, *ends)


def _end(end: Any, tensor: Any, axis: int) -> Any:
    """A number is put before, or behind, each row."""
    if end.ndim:
        return end
    dim = axis % max(tensor.ndim, 1)
    return end.to(tensor.dtype).broadcast_to(tuple(1 if n == dim else size for n, size in enumerate(tensor.shape)))


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    values = as_inexact(as_tensor(y))
    if x is None:
        return gs.trapezoid(values, dx=dx, dim=axis)
    return gs.trapezoid(values, as_tensor(x).to(values.dtype), dim=axis)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    tensor = as_inexact(as_tensor(f))
    axes = range(tensor.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    dims = np.lib.array_utils.normalize_axis_tuple(tuple(axes), tensor.ndim)
    steps = varargs * len(dims) if len(varargs) == 1 else varargs or (1.0,) * len(dims)
    if len(steps) != len(dims):
        raise TypeError("invalid number of arguments")
    found = [_along(tensor, step, dim, edge_order) for step, dim in zip(steps, dims)]
    return found[0] if len(found) == 1 else tuple(found)


def _along(tensor: Any, step: Any, dim: int, edge_order: int) -> Any:
    spacing = step if isinstance(step, (int, float)) else (as_tensor(step).to(tensor.dtype),)
    if not isinstance(spacing, (int, float)) and not spacing[0].ndim:
        return gs.gradient(tensor, spacing=1, dim=dim, edge_order=edge_order)[0] / spacing[0]
    return gs.gradient(tensor, spacing=spacing, dim=dim, edge_order=edge_order)[0]
