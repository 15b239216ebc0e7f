"""Discrete Fourier transforms along several dimensions, by NumPy's pocketfft, which keeps single precision.

Each is divided by a power of the number of elements: 0 for none, 0.5 for a unitary transform, 1.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.arrays.functions.spectra.loops import along, complex_dtype, real_along, to_real_along

Array: TypeAlias = NDArray[Any]


def dft_of(a: Array, dims: tuple[int, ...], power: float, inverse: bool) -> Array:
    """Transform of complex or real numbers into as many complex numbers."""
    a = floating(a)
    check_distinct(a, dims)
    if has_no_data(a):
        return array_without_data(a.shape, complex_dtype(a))
    for dim in reversed(dims):
        a = along(a, dim, power, inverse)
    return a if dims else a.astype(complex_dtype(a))


def real_dft_of(a: Array, dims: tuple[int, ...], power: float) -> Array:
    """Transform of real numbers, with the nonnegative frequencies of the last dimension of `dims`."""
    if a.dtype.kind == "c":
        raise RuntimeError(f"rfft expects a real input tensor, but got {a.dtype}")
    a = floating(a)
    check_distinct(a, dims)
    if not dims:
        raise RuntimeError("fft: rfftn and ihfftn must transform at least one axis")
    last = dims[-1]
    if has_no_data(a):
        return array_without_data(resized(a.shape, last, a.shape[last] // 2 + 1), complex_dtype(a))
    found = real_along(a, last, power)
    for dim in reversed(dims[:-1]):
        found = along(found, dim, power, False)
    return found


def dft_to_real_of(a: Array, dims: tuple[int, ...], power: float, size: int) -> Array:
    """The inverse of `real_dft_of`, not normalised; `size` is the size of the last dimension of `dims`."""
    a = floating(a)
    check_distinct(a, dims)
    last = dims[-1]
    check_half("irfft", a.shape[last], size)
    if has_no_data(a):
        return array_without_data(resized(a.shape, last, size), complex_dtype(a).char.lower())
    for dim in dims[:-1]:
        a = along(a, dim, power, True)
    return to_real_along(a, last, power, size)


def scaled_pairs_of(a: Array, dim: int, size: int, factor: float) -> Array:
    """Scale the frequencies that also stand for their negatives: all but zero, and half of an even size."""
    check_half("scaled_pairs", a.shape[dim], size)
    scales = np.full(a.shape[dim], factor, a.real.dtype)
    scales[0] = 1
    if size % 2 == 0:
        scales[size // 2 :] = 1
    return a * scales.reshape(resized((1,) * a.ndim, dim, a.shape[dim]))


def framed_of(a: Array, start: tuple[int, ...], size: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    """The window of these sizes, zero where it reaches beyond the array."""
    if not len(start) == len(size) == len(dims):
        raise RuntimeError(f"framed(): expected a start and a size for each of {len(dims)} dimensions")
    shape, source, target = list(a.shape), [slice(None)] * a.ndim, [slice(None)] * a.ndim
    for dim, first, length in zip(dims, start, size):
        low, high = max(first, 0), max(min(first + length, a.shape[dim]), 0)
        shape[dim] = length
        source[dim] = slice(low, max(low, high))
        target[dim] = slice(low - first, max(low, high) - first)
    found = np.zeros(shape, a.dtype)
    if all(part.start is None or part.start < part.stop for part in source):
        found[tuple(target)] = a[tuple(source)]
    return found


def envelope_of(a: Array) -> Array:
    """What a sum of frames is divided by."""
    if not has_no_data(a) and a.size and np.min(np.abs(a)) < 1e-11:
        raise RuntimeError("istft(): window overlap add min: 1; the squares of the windows sum to zero at some place")
    return np.array(a)


def check_distinct(a: Array, dims: tuple[int, ...]) -> None:
    if len(dims) > 1 and len({dim % a.ndim for dim in dims}) < len(dims):
        raise RuntimeError(f"fft: FFT dims must be unique, but got {list(dims)}")


def check_half(op: str, length: int, size: int) -> None:
    if size < 1 or length != size // 2 + 1:
        raise RuntimeError(f"{op}(): {length} frequencies are not those of {size} real numbers")


def floating(a: Array) -> Array:
    """Integers become the default dtype; half precision has no transforms, as in PyTorch."""
    kind = a.dtype.char
    if kind in "fdFD":
        return a
    if kind == "e":
        raise RuntimeError("Unsupported dtype float16 for Fourier transforms; convert the tensor with .float()")
    return a.astype(get_default_dtype()) if a.dtype.kind in "biu" else a


def resized(shape: tuple[int, ...], dim: int, length: int) -> tuple[int, ...]:
    dim %= len(shape)
    return (*shape[:dim], length, *shape[dim + 1 :])
