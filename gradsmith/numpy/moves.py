"""NumPy's functions that only move elements: NumPy moves their numbers, and the elements follow.

A function of this kind gives the same places whatever the elements are. It is called with the positions of the elements
in memory, and the result is read from the elements at these positions; so its meaning is NumPy's to the letter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    array_of,
    as_tensor,
    axis_of,
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


def _of_one(name: str) -> Any:
    """A function of one array and options, by its name in NumPy."""
    own = getattr(np, name)

    @functools.wraps(own)
    def function(a: Any, *args: Any, **options: Any) -> Any:
        args, options = unwrapped(args), unwrapped(options)
        return moved(lambda places: own(places, *args, **options), a)

    return function


array_split, delete, diagonal, dsplit, flip, fliplr, flipud, hsplit, repeat, resize, roll, rollaxis = map(
    _of_one,
    (
        "array_split", "delete", "diagonal", "dsplit", "flip", "fliplr", "flipud", "hsplit", "repeat",
        "resize", "roll", "rollaxis",
    ),
)  # fmt: skip
rot90, split, tile, vsplit = map(_of_one, ("rot90", "split", "tile", "vsplit"))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    tensor = as_tensor(x)
    if tensor.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(tensor.unbind(axis))


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return moved(lambda a, b: np.append(a, b, axis), arr, values)


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
    places = np.argsort(array_of(x), axis, kind=kind or "stable", order=order)
    return generated.gather(x, axis, wrapped(places))


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
    return wrapped(np.argpartition(array_of(as_tensor(a)), unwrapped(kth), axis, kind, order))


def lexsort(keys: Any, axis: int = -1) -> Any:
    return wrapped(np.lexsort(unwrapped(keys) if contains_tensor(keys) else array_of(as_tensor(keys)), axis))


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
