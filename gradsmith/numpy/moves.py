"""NumPy's functions that only move elements: NumPy moves their numbers, and the elements follow.

A function of this kind gives the same places whatever the elements are. Where no op does the same, it is called with
the positions of the elements, and the result is read from the elements at these positions; so its meaning is NumPy's to
the letter.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    array_of,
    as_tensor,
    axes_of,
    axis_of,
    by_numpy,
    common,
    contains_tensor,
    np,
    unwrapped,
    without_data,
    wrapped,
)


def moved(function: Callable[..., Any], *tensors: Any) -> Any:
    """The result of `function`, which is given arrays of positions in place of the tensors, with their elements."""
    tensors = tuple(common([as_tensor(one) for one in tensors]))
    starts = np.cumsum([0, *[one.numel() for one in tensors]])
    positions = [np.arange(start, start + one.numel()).reshape(tuple(one.shape)) for start, one in zip(starts, tensors)]
    flat = [one.reshape(-1) for one in tensors]
    pool = flat[0] if len(flat) == 1 else generated.cat(flat)
    return _read(pool, function(*positions))


def _read(pool: Any, places: Any) -> Any:
    if isinstance(places, (list, tuple)):
        return type(places)(_read(pool, one) for one in places)
    return pool[wrapped(np.array(places, np.int64))]


# ---- whole slices along an axis


def along(function: Callable[..., Any], a: Any, axis: Any) -> Any:
    """What a function does that moves whole slices along an axis; None is the axis of the flattened tensor.

    It is given the positions along the axis, which are fewer than those of all elements.
    """
    x = as_tensor(a)
    if axis is None or x.ndim == 0:
        x, axis = x.reshape(-1), 0 if axis is None else axis
    axis = axis_of(axis, x.ndim)
    return x.index_select(axis, wrapped(np.array(function(np.arange(x.shape[axis])), np.int64)))


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    return along(lambda places: np.delete(places, unwrapped(obj)), arr, axis)


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if type(repeats) is int and repeats >= 0:
        x = as_tensor(a)
        return x.repeat_interleave(repeats, None if axis is None else axis_of(axis, max(x.ndim, 1)))
    return along(lambda places: np.repeat(places, unwrapped(repeats)), a, axis)


def resize(a: Any, new_shape: Any) -> Any:
    return moved(lambda places: np.resize(places, unwrapped(new_shape)), a)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    x = as_tensor(a)
    if axis is None:
        total = sum(map(int, np.ravel(unwrapped(shift))))
        return x.reshape(-1).roll(total).reshape(x.shape)
    axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    both = np.broadcast(unwrapped(shift), axes if isinstance(axis, (list, tuple)) else axes[0])
    if both.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    pairs = list(both)
    shifts, dims = ([int(pair[place]) for pair in pairs] for place in (0, 1))
    return x.roll(shifts, dims) if dims else x.clone()


def tile(A: Any, reps: Any) -> Any:
    counts = unwrapped(reps)
    return as_tensor(A).tile((counts,) if np.ndim(counts) == 0 else tuple(int(n) for n in counts))


# ---- turned around


def flip(m: Any, axis: Any = None) -> Any:
    x = as_tensor(m)
    return x.flip(axes_of(axis, x.ndim))


def flipud(m: Any) -> Any:
    return flip(_of_dims("flipud", m, 1), 0)


def fliplr(m: Any) -> Any:
    return flip(_of_dims("fliplr", m, 2), 1)


def _of_dims(name: str, a: Any, least: int) -> Any:
    x = as_tensor(a)
    if x.ndim < least:
        raise ValueError(f"{name}: the array must have {least} or more dimensions, but has {x.ndim}")
    return x


def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    x = as_tensor(m)
    plane = tuple(axes)
    if len(plane) != 2:
        raise ValueError("len(axes) must be 2.")
    if not all(-x.ndim <= axis < x.ndim for axis in plane):
        raise ValueError(f"Axes={axes} out of range for array of ndim={x.ndim}.")
    if plane[0] % x.ndim == plane[1] % x.ndim:
        raise ValueError("Axes must be different.")
    return x.rot90(int(k) % 4, plane)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    x = as_tensor(a)
    axis = axis_of(axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-x.ndim} <= start < {x.ndim + 1}, but {start} was passed in"
        )
    start += x.ndim * (start < 0)
    return x.movedim(axis, start - (axis < start))


def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    x = as_tensor(a)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = axis_of(axis1, x.ndim), axis_of(axis2, x.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    return x.diagonal(int(offset), first, second)


# ---- parts


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    x = as_tensor(ary)
    axis = axis_of(axis, x.ndim)
    cuts = unwrapped(indices_or_sections)
    bounds = [0, *map(int, cuts), None] if np.ndim(cuts) else _equal_bounds(x.shape[axis], int(cuts))
    return [_part(x, axis, slice(start, stop)) for start, stop in pairwise(bounds)]


def _equal_bounds(size: int, sections: int) -> list[int]:
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, extra = divmod(size, sections)
    return [number * each + min(number, extra) for number in range(sections + 1)]


def _part(x: Any, axis: int, within: slice) -> Any:
    start, stop, _ = within.indices(x.shape[axis])
    return x.narrow(axis, start, max(stop - start, 0))


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    x = as_tensor(ary)
    if np.ndim(unwrapped(indices_or_sections)) == 0 and x.shape[axis_of(axis, x.ndim)] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    x = _of_dims("hsplit", ary, 1)
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    return split(_of_dims("vsplit", ary, 2), indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    return split(_of_dims("dsplit", ary, 3), indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    tensor = as_tensor(x)
    if tensor.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(tensor.unbind(axis))


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    x = as_tensor(arr)
    return moved(lambda a, b: np.insert(a, unwrapped(obj), b, axis), x, as_tensor(values, x.dtype))


def block(arrays: Any) -> Any:
    return _assembled(np.block, arrays)


def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    if isinstance(obj, str):
        raise TypeError("bmat(): names of variables in a string are not read; give a list of lists")
    rows = [row if isinstance(row, (list, tuple)) else [row] for row in obj]
    return _assembled(np.block, [[generated.atleast_2d(as_tensor(one)) for one in row] for row in rows])


def _assembled(function: Any, nested: Any) -> Any:
    """Of arrays in nested lists."""
    leaves: list[Any] = []

    def number(value: Any) -> Any:
        if type(value) is list:
            return [number(item) for item in value]
        leaves.append(as_tensor(value))
        return len(leaves) - 1

    def filled(value: Any, positions: Any) -> Any:
        return [filled(item, positions) for item in value] if type(value) is list else positions[value]

    numbered = number(nested)
    return moved(lambda *positions: function(filled(numbered, positions)), *leaves)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    x = as_tensor(filt)
    options = {} if axis is None else {"axis": axis}
    marks = np.arange(1, x.numel() + 1).reshape(tuple(x.shape)) * (array_of(x) != 0)
    found = np.trim_zeros(marks, trim, **options)
    inside = np.arange(x.numel()).reshape(tuple(x.shape))
    if not found.size:
        return moved(lambda places: places[tuple(slice(0) for _ in range(x.ndim))], x)
    return x[_window(marks, found, inside)]


def _window(marks: Any, found: Any, positions: Any) -> Any:
    """The slices that cut `found` out of `marks`."""
    nonzero = found[found > 0]
    if not nonzero.size:
        return tuple(slice(0, n) for n in found.shape)
    first = np.argwhere(marks == nonzero[0])[0] - np.argwhere(found == nonzero[0])[0]
    return tuple(slice(int(start), int(start) + n) for start, n in zip(first, found.shape))


def extract(condition: Any, arr: Any) -> Any:
    mask = np.ravel(array_of(as_tensor(condition)))
    return moved(lambda places: np.extract(mask, places), arr)


# ---- order


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    x = as_tensor(a)
    if axis is None:
        x, axis = x.reshape(-1), -1
    if x.dtype.kind == "f" and order is None:
        return generated.sort(x, axis_of(axis, x.ndim), stable=True)[0]
    return generated.gather(x, axis, by_numpy(np.argsort, x, axis, kind=kind or "stable", order=order))


def sort_complex(a: Any) -> Any:
    x = as_tensor(a)
    kind = np.sort_complex(np.ones(1, x.dtype)).dtype
    return sort(as_tensor(x, np.complex128 if kind.char == "G" else kind))


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    x = as_tensor(a)
    if axis is None:
        x, axis = x.reshape(-1), -1
    if without_data([x]):
        return sort(x, axis)
    places = np.argpartition(array_of(x), unwrapped(kth), axis, kind, order)
    return generated.gather(x, axis, wrapped(places))


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    return by_numpy(np.argpartition, as_tensor(a), kth, axis, kind, order)


def lexsort(keys: Any, axis: int = -1) -> Any:
    return by_numpy(np.lexsort, keys if contains_tensor(keys) else as_tensor(keys), axis)


# ---- sets


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    x = as_tensor(ar)
    _, index, inverse, counts = np.unique(array_of(x), True, True, True, axis, equal_nan=equal_nan)
    values = x.reshape(-1)[wrapped(index)] if axis is None else x.index_select(axis, wrapped(index))
    asked = ((return_index, index), (return_inverse, inverse), (return_counts, counts))
    more = [wrapped(found) for wanted, found in asked if wanted]
    return (values, *more) if more else values


def unique_values(x: Any) -> Any:
    return unique(x, equal_nan=False)


def _named(name: str, x: Any, *parts: Any) -> Any:
    """The named tuple that NumPy gives."""
    kind = type(getattr(np, name)(np.zeros(1)))
    return kind(*parts)


def unique_all(x: Any) -> Any:
    return _named("unique_all", x, *unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any) -> Any:
    return _named("unique_counts", x, *unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any) -> Any:
    return _named("unique_inverse", x, *unique(x, return_inverse=True, equal_nan=False))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    first, second = common([as_tensor(ar1), as_tensor(ar2)])
    _, at, also = np.intersect1d(array_of(first), array_of(second), assume_unique, return_indices=True)
    values = first.reshape(-1)[wrapped(at)]
    return (values, wrapped(at), wrapped(also)) if return_indices else values


def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(generated.cat([one.reshape(-1) for one in common([as_tensor(ar1), as_tensor(ar2)])]))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = as_tensor(ar1).reshape(-1) if assume_unique else unique(ar1)
    kept = np.isin(array_of(values), array_of(as_tensor(ar2)), assume_unique=True, invert=True)
    return values[wrapped(np.flatnonzero(kept))]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    sides = [as_tensor(one).reshape(-1) if assume_unique else unique(one) for one in (ar1, ar2)]
    values = sort(generated.cat(common(sides)))
    found = np.setxor1d(*[array_of(one) for one in common(sides)], assume_unique=True)
    return values[wrapped(np.searchsorted(array_of(values), found))]
