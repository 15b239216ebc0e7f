"""Convolutions of signals along dimensions, by sums of products or by Fourier transforms.

Only the window that is asked for is computed, since the gradient of a convolution with a short filter is a short
window of a convolution of two long signals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.dtypes import get_default_dtype, promote_types

from .fourier import framed_of

Array: TypeAlias = NDArray[Any]
Sizes: TypeAlias = tuple[int, ...]


def convolution_of(a: Array, b: Array, start: Sizes, size: Sizes, dims: Sizes, by_fft: bool) -> Array:
    """Window of these sizes of the convolution along the dimensions `dims`, counted from the end; others broadcast."""
    start, size, dims = tuple(start), tuple(size), tuple(dims)
    check_window(a, b, start, size, dims)
    dtype = promote_types(a.dtype, b.dtype)
    if by_fft and dtype.kind in "biu":
        dtype = get_default_dtype()
    a, b = aligned(a, b)
    shape = window_shape(a, b, size, dims)
    if has_no_data(a) or has_no_data(b):
        return array_without_data(shape, dtype)
    if 0 in (a.size, b.size, *shape):
        return np.zeros(shape, dtype)
    compute = by_transforms if by_fft and dims else by_products
    found = compute(a.astype(dtype, copy=False), b.astype(dtype, copy=False), start, size, dims)
    return found.astype(dtype, copy=False)


def check_window(a: Array, b: Array, start: Sizes, size: Sizes, dims: Sizes) -> None:
    least = min(a.ndim, b.ndim)
    if not len(start) == len(size) == len(set(dims)) == len(dims) or not all(-least <= dim < 0 for dim in dims):
        raise RuntimeError(
            f"convolution(): expected a start and a size for each of the dimensions {list(dims)}, counted from the end "
            f"of both shapes {a.shape} and {b.shape}, but got {list(start)} and {list(size)}"
        )
    if any(length < 0 for length in size):
        raise RuntimeError(f"convolution(): sizes cannot be negative, but got {list(size)}")


def aligned(a: Array, b: Array) -> tuple[Array, Array]:
    """Both arrays, with the same number of dimensions."""
    ndim = max(a.ndim, b.ndim)
    return a[(None,) * (ndim - a.ndim)], b[(None,) * (ndim - b.ndim)]


def window_shape(a: Array, b: Array, size: Sizes, dims: Sizes) -> Sizes:
    sizes = dict(zip(dims, size))
    places = range(-a.ndim, 0)
    first = [1 if place in sizes else a.shape[place] for place in places]
    second = [1 if place in sizes else b.shape[place] for place in places]
    others = np.broadcast_shapes(tuple(first), tuple(second))
    return tuple(sizes.get(place, other) for place, other in zip(places, others))


# ---- sums of products; none of them has a factor that is not there, which an infinity would make NaN


def by_products(a: Array, b: Array, start: Sizes, size: Sizes, dims: Sizes) -> Array:
    """Exact for integers. Goes over the elements of whatever has fewest: the shorter signal or the window."""
    if lengths(a, dims) < lengths(b, dims):
        a, b = b, a
    are_vectors = a.ndim == 1 == len(dims)
    if are_vectors and b.size <= start[0] + 1 <= start[0] + size[0] <= a.size:
        return np.convolve(a[start[0] - b.size + 1 : start[0] + size[0]], b, "valid")
    if math.prod(size) < lengths(b, dims):
        return by_elements_of_window(a, b, start, size, dims)
    if are_vectors:
        return of_vectors(a, b, start[0], size[0])
    return by_elements_of_filter(a, b, start, size, dims)


def of_vectors(a: Array, b: Array, start: int, size: int) -> Array:
    """NumPy's loop over the part of the longer vector that meets the window."""
    first = min(max(start - b.size + 1, 0), a.size - 1)
    met = a[first : max(start + size, first + 1)]
    return framed_of(np.convolve(met, b), (start - first,), (size,), (0,))


def by_elements_of_filter(a: Array, b: Array, start: Sizes, size: Sizes, dims: Sizes) -> Array:
    found = np.zeros(window_shape(a, b, size, dims), a.dtype)
    for place in np.ndindex(*(b.shape[dim] for dim in dims)):
        shift = [first - i for first, i in zip(start, place)]
        low = [max(-step, 0) for step in shift]
        high = [min(n, a.shape[dim] - step) for n, dim, step in zip(size, dims, shift)]
        source = part(a, [i + step for i, step in zip(low, shift)], [i + step for i, step in zip(high, shift)], dims)
        target = part(found, low, high, dims)
        target += source * part(b, place, [i + 1 for i in place], dims)
    return found


def by_elements_of_window(a: Array, b: Array, start: Sizes, size: Sizes, dims: Sizes) -> Array:
    found = np.zeros(window_shape(a, b, size, dims), a.dtype)
    b = np.flip(b, dims)
    for place in np.ndindex(*size):
        shift = [first + i + 1 - b.shape[dim] for first, i, dim in zip(start, place, dims)]
        low = [max(-step, 0) for step in shift]
        high = [min(b.shape[dim], a.shape[dim] - step) for dim, step in zip(dims, shift)]
        source = part(a, [i + step for i, step in zip(low, shift)], [i + step for i, step in zip(high, shift)], dims)
        target = part(found, place, [i + 1 for i in place], dims)
        target[...] = (source * part(b, low, high, dims)).sum(dims, keepdims=True)
    return found


def part(a: Array, low: Iterable[int], high: Iterable[int], dims: Sizes) -> Array:
    """From the places `low` to before `high` along dimensions; empty where these lie outside."""
    places: list[Any] = [..., *[slice(None)] * a.ndim]  # the dots keep an array of what has no dimensions
    for dim, first, last in zip(dims, low, high):
        places[dim] = slice(max(first, 0), max(last, 0))
    return np.asarray(a[tuple(places)])


def lengths(a: Array, dims: Sizes) -> int:
    return math.prod(a.shape[dim] for dim in dims)


# ---- Fourier transforms


def by_transforms(a: Array, b: Array, start: Sizes, size: Sizes, dims: Sizes) -> Array:
    """Cyclic convolutions, as long as the window needs: what wraps around falls outside of it."""
    whole = [a.shape[dim] + b.shape[dim] - 1 for dim in dims]
    periods = [
        fast_length(max(a.shape[dim], b.shape[dim], full - max(first, 0), min(first + length, full)))
        for dim, full, first, length in zip(dims, whole, start, size)
    ]
    cyclic = cyclic_convolution(a, b, periods, dims)
    found = part(cyclic, (0,) * len(dims), whole, dims)
    return framed_of(found, start, size, dims)


def cyclic_convolution(a: Array, b: Array, periods: list[int], dims: Sizes) -> Array:
    """Real and imaginary parts are convolved separately, so that small ones keep their digits beside large ones."""

    def cyclic(a: Array, b: Array) -> Array:
        product = np.fft.rfftn(a, periods, dims) * np.fft.rfftn(b, periods, dims)
        return np.asarray(np.fft.irfftn(product, periods, dims))

    found = cyclic(a.real, b.real)
    if a.dtype.kind != "c":
        return found
    mixed = cyclic(a.real, b.imag) + cyclic(a.imag, b.real)
    return np.asarray(found - cyclic(a.imag, b.imag) + 1j * mixed)


def fast_length(length: int) -> int:
    """The next product of powers of 2, 3 and 5, of which transforms are quick."""
    best = 1 << (length - 1).bit_length()
    fives = 1
    while fives < best:
        threes = fives
        while threes < best:
            best = min(best, threes << (-(-length // threes) - 1).bit_length())
            threes *= 3
        fives *= 5
    return best
