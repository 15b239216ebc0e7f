"""Distinct elements, their counts, and membership."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.complex_casts import real_where_kept
from gradsmith.runtime.arrays.functions.frequency.bins import counts_of_integers
from gradsmith.runtime.arrays.functions.frequency.equal_runs import runs
from gradsmith.runtime.arrays.functions.frequency.membership import few_among

from .ordering import sorted_elements, wrapped_dim

Array: TypeAlias = NDArray[Any]
# How many comparisons take less time than NumPy's choice of a way to do without them.
FEW_PAIRS = 4096

Sets: TypeAlias = tuple[Array, Array, Array]  # elements, for each input the number of its equal, how many were equal


def unique_elements_of(a: Array, dim: int | None, wants_places: bool) -> Sets:
    """Distinct elements, or slices along a dimension, in ascending order; results that are not wanted are empty."""
    if dim is not None:
        found = along(np.unique, a, dim)
        return found if wants_places else (found[0], empty(), empty())
    if a.dtype.kind in "iu" and a.size:
        near = of_narrow_range(a, wants_places)
        if near is not None:
            return near
    return of_sorted(a, wants_places)


def of_sorted(a: Array, wants_places: bool) -> Sets:
    """The same by sorting: of some dtypes, NumPy's own `unique` puts each element into a table first, which is slow."""
    flat = a.reshape(-1)
    values, places = sorted_elements(flat, wants_places)
    differs = values[1:] != values[:-1]
    if not wants_places:
        return np.concatenate((values[:1], values[1:][differs])), empty(), empty()
    starts, numbers, counts = runs(flat.size, differs)
    inverse = np.empty(flat.shape, np.int64)
    inverse[places] = numbers
    return values[starts], inverse.reshape(a.shape), counts


def of_narrow_range(a: Array, wants_places: bool) -> Sets | None:
    """The same of integers that lie close together, which need no sorting; None of others."""
    low = int(a.min())
    width = int(a.max()) - low + 1
    if width > 2 * a.size + 1024:
        return None
    offsets = a.astype(np.int64) - low if a.dtype != np.uint64 else (a - a.dtype.type(low)).astype(np.int64)
    if not wants_places:
        is_there = np.zeros(width, bool)
        is_there[offsets] = True
        return raised(np.flatnonzero(is_there), low, a.dtype), empty(), empty()
    counts = np.bincount(offsets.reshape(-1), minlength=width)
    found = np.flatnonzero(counts)
    numbers = np.zeros(width, np.int64)
    numbers[found] = np.arange(len(found))
    return raised(found, low, a.dtype), numbers[offsets], counts[found]


def raised(offsets: Array, low: int, dtype: np.dtype[Any]) -> Array:
    """Integers of the dtype, by their distances from the smallest."""
    result: Array = offsets.astype(dtype)
    result += np.array(low).astype(dtype)
    return result


def consecutive_elements_of(a: Array, dim: int | None) -> Sets:
    """The first of every run of equal elements, or of equal slices along a dimension."""
    if dim is None:
        elements = a.reshape(-1)
        places, inverse, counts = runs(elements.size, elements[1:] != elements[:-1])
        return elements[places], inverse.reshape(a.shape), counts
    return along(None, a, dim)


def along(ordered: Any, a: Array, dim: int) -> Sets:
    if a.ndim == 0:
        raise IndexError(f"unique(): Dimension specified as {dim} but tensor has no dimensions")
    axis = wrapped_dim(dim, a.ndim)
    if a.size == 0 and a.shape[axis]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    slices = np.moveaxis(a, axis, 0)
    if not a.size:
        return a.copy(), empty(), empty()
    rows = slices.reshape(len(slices), -1)
    if ordered is None:
        places, inverse, counts = runs(len(rows), (rows[1:] != rows[:-1]).any(1))
        values = rows[places]
    else:
        values, inverse, counts = ordered(rows, return_inverse=True, return_counts=True, axis=0)
    kept = values.reshape(len(values), *slices.shape[1:])
    return np.ascontiguousarray(np.moveaxis(kept, 0, axis)), inverse.reshape(-1), counts


def empty() -> Array:
    return np.zeros(0, np.int64)


def isin_of(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Array:
    found = few_among(elements, test_elements, invert)
    if found is not None:
        return found
    for given in (elements, test_elements):
        if getattr(given, "dtype", np.dtype(float)).kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {given.dtype}")
    if has_no_data(elements) or has_no_data(test_elements):
        return array_without_data(np.shape(elements), np.dtype(bool))
    if not np.ndim(elements):
        return np.asarray(np.any(np.equal(elements, test_elements)) != invert)
    if not np.ndim(test_elements):
        return np.asarray(np.equal(elements, test_elements) != invert)
    if elements.size * test_elements.size <= FEW_PAIRS:
        found = (elements[..., None] == test_elements.ravel()).any(-1)
        return np.asarray(~found if invert else found)
    # NumPy's fast path for unique elements needs a vector.
    return np.isin(elements, test_elements, invert=invert)


def bincount_of(a: Array, weights: Array | None, minlength: int) -> Array:
    if a.dtype.kind in "bfc":
        raise NotImplementedError(f"bincount(): counts integers, but the input is {a.dtype}; convert it with .long()")
    if weights is None and a.ndim == 1 and minlength >= 0 and not has_no_data(a):
        counts = counts_of_integers(a, minlength)
        if counts is not None:
            return counts
    if a.ndim != 1 or (a.size and a.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError(f"bincount(): minlength should be >= 0, but is {minlength}")
    if weights is None:
        return np.bincount(a.astype(np.int64), minlength=minlength)
    if weights.shape != a.shape:
        raise RuntimeError(
            f"bincount(): weights should be 1-d and have the same length as input, but sizes are {list(weights.shape)} "
            f"and {list(a.shape)}"
        )
    dtype = np.dtype(np.float32 if weights.dtype == np.float32 else np.float64)
    return np.bincount(a.astype(np.int64), real_where_kept(weights, dtype), minlength).astype(dtype)
