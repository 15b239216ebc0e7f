"""Elements chosen by conditions and indices, and functions of slices."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith as gs
import gradsmith.numpy as gnp
from gradsmith.numpy.arguments import without_data
from gradsmith.numpy_protocols.composed.operands import as_tensor, has_tensors
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "apply_along_axis", "apply_over_axes", "choose", "clip", "compress", "digitize", "extract", "interp", "nonzero",
    "piecewise", "places_of", "plain_index", "select", "take", "take_along_axis", "where",
]  # fmt: skip


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    mask = as_tensor(condition)
    if x is None and y is None:
        return nonzero(mask)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return gs.where(mask if mask.dtype.kind == "b" else mask.to(np.bool_), x, y)


def nonzero(a: Any) -> tuple[Any, ...]:
    return tuple(gs.nonzero(as_tensor(a), as_tuple=True))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first condition that holds decides: the choices are laid over each other from the last to the first."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError("list of cases must be same length as list of conditions, and not empty")
    given = [one if type(one) in (int, float, complex) else as_tensor(one) for one in (*choicelist, default)]
    kind = np.result_type(
        *[one.dtype if is_tensor(one) else one for one in given]
    )  # numbers alone make NumPy's float64
    *choices, found = [as_tensor(one).to(kind) for one in given]
    for condition, choice in zip(reversed(list(condlist)), reversed(choices)):
        found = gs.where(as_tensor(condition), choice, found)
    return found


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Each function sees its own elements alone."""
    tensor = as_tensor(x)
    masks = _masks(condlist, tensor)
    if len(funclist) == len(masks) + 1:
        remaining = gs.ones(tuple(tensor.shape), dtype=np.bool_)
        for mask in masks:
            remaining = remaining & ~mask
        masks.append(remaining)
    elif len(funclist) != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected"
        )
    found = gs.zeros_like(tensor.detach())
    for mask, function in zip(masks, funclist):
        if is_tracing() or is_batched_tensor(mask):  # slices may go different ways: the function sees all elements
            value = function(tensor, *args, **kw) if callable(function) else function
            found = gs.where(mask, as_tensor(value).to(tensor.dtype), found)
            continue
        chosen = tensor[mask]
        value = function(chosen, *args, **kw) if callable(function) else function
        found = gs.index_put(found, (mask,), value)
    return found


def _masks(condlist: Any, tensor: Any) -> list[Any]:
    several = (
        isinstance(condlist, (list, tuple))
        and len(condlist)
        and (is_tensor(condlist[0]) or np.ndim(condlist[0]) > 0 or tensor.ndim == 0)
    )
    given = (
        list(condlist)
        if several or (not isinstance(condlist, (list, tuple)) and _rank(condlist) > tensor.ndim)
        else [condlist]
    )
    return [as_tensor(one).to(np.bool_).broadcast_to(tuple(tensor.shape)) for one in given]


def _rank(value: Any) -> int:
    return int(value.ndim) if is_tensor(value) else np.ndim(value)


def choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    options = gs.unbind(choices) if is_tensor(choices) else [as_tensor(choice) for choice in choices]
    return gs.choose(as_tensor(a), list(options), mode=mode)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    tensor = as_tensor(a)
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    if is_tensor(indices) and (is_tracing() or is_batched_tensor(indices)):
        return _taken(tensor, indices, axis % tensor.ndim, mode)
    places = _checked(
        as_tensor(indices).detach().numpy() if has_tensors(indices) else np.asarray(indices), tensor.shape[axis], mode
    )
    if places.ndim == 0:
        return tensor.select(axis, int(places))
    found = gs.index_select(tensor, axis, as_tensor(places.reshape(-1)))
    axis = axis % tensor.ndim
    return found.reshape((*tuple(tensor.shape)[:axis], *places.shape, *tuple(tensor.shape)[axis + 1 :]))


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    tensor, places = as_tensor(arr), as_tensor(indices)
    return (
        gs.take_along_dim(tensor, places, axis)
        if axis is not None
        else gs.take_along_dim(tensor.reshape(-1), places, 0)
    )


def _taken(tensor: Any, indices: Any, axis: int, mode: str) -> Any:
    """With indices that differ from slice to slice of a `vmap`, or from run to run of a program."""
    size = tensor.shape[axis]
    if mode != "raise":
        indices = indices % size if mode == "wrap" else indices.clamp(0, size - 1)
    return tensor[(slice(None),) * axis + (indices,)]


def _checked(places: Any, size: int, mode: str) -> Any:
    if places.dtype.kind not in "iu":
        if places.size:
            raise TypeError(f"np.take(): indices must be integers, got {places.dtype}")
        places = places.astype(np.int64)
    if mode == "wrap":
        return places % size
    if mode == "clip":
        return np.clip(places, 0, size - 1)
    outside = places[(places < -size) | (places >= size)]
    if outside.size:
        raise IndexError(f"index {outside.flat[0]} is out of bounds for axis with size {size}")
    return np.where(places < 0, places + size, places)


def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    return gs.compress(as_tensor(condition), as_tensor(a), axis)


def extract(condition: Any, arr: Any) -> Any:
    return gs.extract(as_tensor(condition), as_tensor(arr))


def clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None, **kwargs: Any) -> Any:
    if kwargs:
        raise TypeError(f"np.clip() of tensors takes no {', '.join(kwargs)}")
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    tensor = as_tensor(a)
    if low is None and high is None:
        return tensor.clone()
    found = tensor if low is None else gs.clamp_min(tensor, low)
    return found if high is None else gs.clamp_max(found, high)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    values = as_tensor(fp)
    if values.is_complex():
        return gnp.interp(x, xp, values, left, right, period)
    return gs.interp(as_tensor(x), as_tensor(xp), values, left, right, period)


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    tensor = as_tensor(arr)
    dim = np.lib.array_utils.normalize_axis_index(axis, tensor.ndim)
    moved = tensor.movedim(dim, -1)
    kept = tuple(moved.shape)[:-1]
    parts = [as_tensor(func1d(row, *args, **kwargs)) for row in gs.unbind(moved.reshape((-1, moved.shape[-1])))]
    if not parts:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = gs.stack(parts).reshape((*kept, *tuple(parts[0].shape)))
    for offset in range(parts[0].ndim):
        found = found.movedim(len(kept) + offset, dim + offset)
    return found


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    found = as_tensor(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        rank = found.ndim
        result = as_tensor(func(found, axis))
        found = result if result.ndim == rank else result.unsqueeze(axis % rank)
    return found


# ---- indices


def plain_index(index: Any) -> Any:
    """Arrays in place of the tensors of an index."""
    if isinstance(index, tuple):
        return tuple(map(plain_index, index))
    return index.detach().numpy() if is_tensor(index) else index


def places_of(tensor: Any, index: tuple[Any, ...]) -> tuple[Any, ...]:
    """Coordinates of all elements that an index of any kind names, one tensor of integers for each dimension."""
    shape = tuple(tensor.shape)
    named = np.arange(tensor.numel()).reshape(shape)[plain_index(index)]
    return tuple(as_tensor(np.ascontiguousarray(part)) for part in np.unravel_index(named, shape))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The op takes edges that go up; between edges that go down, places are counted from the other end."""
    edges = as_tensor(bins)
    if edges.ndim != 1 or edges.shape[0] < 2 or without_data([edges]) or bool((edges[1:] >= edges[:-1]).all()):
        return gs.digitize(as_tensor(x), edges, right=right)
    if not bool((edges[1:] <= edges[:-1]).all()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return edges.shape[0] - gs.digitize(as_tensor(x), edges.flip(0), right=right)
