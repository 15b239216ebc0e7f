"""Sorting and selection of arrays, with PyTorch's order of ties and NaN.

NaN is the greatest of all numbers. Long rows are sorted by digits, and others by NumPy: its quick argsort is several
times as fast as its stable one; equal elements, which it leaves in any order, are put in the order of their places
afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.counting.radix import is_sorted_by_digits, order_of_rows
from gradsmith.runtime.arrays.functions.counting.ranked import in_the_middle, of_rank, ordered_short_rows
from gradsmith.runtime.arrays.functions.ordered.short_rows import sorted_short_rows

Array = Any

_LONG = 256  # elements from which on the quick sort and the work after it are worth it
_VERY_LONG = 1 << 14  # elements from which on a pass over groups of them is worth it
_GROUP = 32  # elements


def wrapped_dim(dim: int, ndim: int) -> int:
    count = ndim or 1
    if -count <= dim < count:
        return dim % count
    raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")


def pair_without_data(shape: tuple[int, ...], dtype: Any) -> tuple[Array, Array]:
    return array_without_data(shape, dtype), array_without_data(shape, np.dtype(np.int64))


# ---- sorted


def sort_of(a: Array, dim: int, descending: bool, stable: bool) -> tuple[Array, Array]:
    axis = wrapped_dim(dim, a.ndim)
    if has_no_data(a):
        return pair_without_data(a.shape, a.dtype)
    if a.dtype == np.float16:  # there are no loops for halves
        values, places = sort_of(a.astype(np.float32), dim, descending, stable)
        return values.astype(np.float16), places
    found = ordered_short_rows(a, descending) if axis == a.ndim - 1 else None
    if found is None:
        found = sorted_short_rows(a, axis, descending)
    if found is not None:
        return found
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    rows = np.ascontiguousarray(as_rows(a, axis))
    values, places = sorted_rows(rows, descending)
    return put_back(values, axis), put_back(places, axis)


def sorted_elements(flat: Array, wants_places: bool) -> tuple[Array, Array]:
    """The same of a vector in ascending order; the places are worth something where they are wanted."""
    found = sorted_short_rows(flat, 0, False)
    if found is not None:
        return found
    return sorted_rows(np.ascontiguousarray(flat), False) if wants_places else (np.sort(flat), flat)


def argsort_of(a: Array, dim: int, descending: bool, stable: bool) -> Array:
    return sort_of(a, dim, descending, stable)[1]


def as_rows(a: Array, axis: int) -> Array:
    """A view with a dimension in the last one's place. `swapaxes` costs a tenth of `moveaxis`."""
    return a.swapaxes(axis, -1)


def put_back(rows: Array, axis: int) -> Array:
    return np.ascontiguousarray(rows.swapaxes(axis, -1))


def picked(rows: Array, places: Array) -> Array:
    """Elements of each row at places of its own."""
    return rows[places] if rows.ndim == 1 else np.take_along_axis(rows, places, -1)


def sorted_rows(rows: Array, descending: bool) -> tuple[Array, Array]:
    """Values and places along the last dimension. A descending order is an ascending one read backwards."""
    length = rows.shape[-1]
    if descending:
        values, places = ascending(np.ascontiguousarray(rows[..., ::-1]))
        return np.ascontiguousarray(values[..., ::-1]), length - 1 - places[..., ::-1]
    return ascending(rows)


def ascending(rows: Array) -> tuple[Array, Array]:
    if is_sorted_by_digits(rows.dtype, rows.shape[-1]):
        places = order_of_rows(rows)
        return picked(rows, places), places
    if rows.shape[-1] < _LONG or rows.dtype.itemsize < 4:
        places = rows.argsort(axis=-1, kind="stable")
        return picked(rows, places), places
    places = rows.argsort(axis=-1)
    values = picked(rows, places)
    return values, ties_in_order(rows, values, places)


def ties_in_order(rows: Array, values: Array, places: Array) -> Array:
    """Order of the elements, with equal ones in ascending order of their places."""
    same = values[..., 1:] == values[..., :-1]
    if values.dtype.kind == "f":
        same |= np.isnan(values[..., :-1])  # NaN comes last, so what follows one is NaN too
    if not same.any():
        return places
    if np.count_nonzero(same) > same.size // 8:
        return rows.argsort(axis=-1, kind="stable")
    starts = np.ones(values.shape, bool)
    starts[..., 1:] = ~same
    tied = ~starts
    tied[..., :-1] |= same
    groups = np.cumsum(starts)[tied.ravel()]
    chosen = places[tied]
    places[tied] = chosen[np.lexsort((chosen, groups))]
    return places


# ---- selected


def first_of_sorted_rows(a: Array, axis: int, k: int, largest: bool) -> tuple[Array, Array]:
    """What `topk` gives, of more elements than are worth a scan; see selection.pyx."""
    rows = np.ascontiguousarray(as_rows(a, axis))
    if rows.shape[-1] < _LONG:
        values, places = (found[..., :k] for found in sorted_rows(rows, largest))
    else:
        places = places_of_extremes(rows, k, largest)
        values, order = sorted_rows(picked(rows, places), largest)
        places = picked(places, order)
    return put_back(values, axis), put_back(places, axis)


def places_of_extremes(rows: Array, k: int, largest: bool) -> Array:
    """Places of the k greatest or smallest elements, in no particular order."""
    length = rows.shape[-1]
    if k == length or k == 0:
        return np.broadcast_to(np.arange(k), (*rows.shape[:-1], k))
    if length >= _VERY_LONG and k * _GROUP <= length // 4:
        chosen = [_extremes_of_groups(row, k, largest) for row in rows.reshape(-1, length)]
        return np.array(chosen, np.intp).reshape(*rows.shape[:-1], k)
    return _partitioned(rows, k, largest)


def _partitioned(rows: Array, k: int, largest: bool) -> Array:
    length = rows.shape[-1]
    if largest:
        return np.argpartition(rows, length - k, axis=-1)[..., length - k :]
    return np.argpartition(rows, k - 1, axis=-1)[..., :k]


def _extremes_of_groups(row: Array, k: int, largest: bool) -> Array:
    """As `_partitioned`, for few of very many: one pass finds the extreme of each group of elements.

    The k-th extreme of these is a bound that k elements reach, one in each of k groups; few others do.
    """
    extreme = np.maximum if largest else np.minimum
    whole = len(row) // _GROUP * _GROUP
    found = extreme.reduce(row[:whole].reshape(_GROUP, -1), axis=0)
    if row.dtype.kind == "f" and (np.isnan(found).any() or np.isnan(row[whole:]).any()):
        return _partitioned(row, k, largest)  # NaN is the greatest of all, and reaches no bound
    reached = found[_partitioned(found, k, largest)]
    candidates = np.flatnonzero(row >= reached.min() if largest else row <= reached.max())
    return np.asarray(candidates[_partitioned(row[candidates], k, largest)] if len(candidates) > k else candidates)


def kthvalue_of(a: Array, k: int, dim: int, keepdim: bool) -> tuple[Array, Array]:
    axis = wrapped_dim(dim, a.ndim)
    length = a.shape[axis] if a.ndim else 1
    if not 1 <= k <= length:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {dim}: k is {k}, but there are {length} elements"
        )
    return selected("kthvalue", a, axis, keepdim, lambda rows: of_rank(rows, k - 1))


def selected(op: str, a: Array, axis: int, keepdim: bool, find: Any) -> tuple[Array, Array]:
    """One element of each row, and its place, as `find` gives them."""
    if not keepdim and axis == a.ndim - 1 and a.shape[axis] and not has_no_data(a):
        return find(a)  # type: ignore[no-any-return]
    shape = tuple(1 if d == axis else n for d, n in enumerate(a.shape) if keepdim or d != axis)
    if has_no_data(a):
        return pair_without_data(shape, a.dtype)
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    if a.shape[axis] == 0:
        raise IndexError(f"{op}(): Expected reduction dim {axis} to have non-zero size.")
    rows = as_rows(a, axis)
    values, places = (found[..., None] for found in find(rows))
    return put_back(values, axis).reshape(shape), put_back(places, axis).reshape(shape)


# ---- medians


def median_of(a: Array) -> Array:
    return middle_value(a, ignore_nan=False)


def nanmedian_of(a: Array) -> Array:
    return middle_value(a, ignore_nan=True)


def middle_value(a: Array, ignore_nan: bool) -> Array:
    """The lower median of each row; NaN for rows that are empty or contain NaN."""
    if has_no_data(a):
        return array_without_data((), a.dtype)
    elements = a.reshape(-1)
    if elements.size == 0:
        missing = np.nan if a.dtype.kind == "f" else np.iinfo(a.dtype).min if a.dtype.kind in "iu" else False
        return np.asarray(missing, a.dtype)
    return in_the_middle(elements, ignore_nan)[0]


def median_dim_of(a: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    return selected("median", a, wrapped_dim(dim, a.ndim), keepdim, lambda rows: in_the_middle(rows, False))


def nanmedian_dim_of(a: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    return selected("nanmedian", a, wrapped_dim(dim, a.ndim), keepdim, lambda rows: in_the_middle(rows, True))
