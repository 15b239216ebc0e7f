"""NumPy's pocketfft without what its functions do before it, which costs as much as a short transform.

Its ufuncs are NumPy's own affair. Where a version has them no more, its functions serve.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

try:
    from numpy.fft import _pocketfft_umath as ufuncs  # type: ignore[attr-defined]

    HAS_UFUNCS = all(hasattr(ufuncs, name) for name in ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft"))
except ImportError:
    HAS_UFUNCS = False

Array: TypeAlias = NDArray[Any]


def along(a: Array, dim: int, power: float, inverse: bool) -> Array:
    """Transform into complex numbers, divided by a power of their number."""
    length = length_of(a, dim)
    if not HAS_UFUNCS:
        return scaled(np.fft.ifft(a, axis=dim, norm="forward") if inverse else np.fft.fft(a, axis=dim), length, power)
    loop = ufuncs.ifft if inverse else ufuncs.fft
    return run(loop, a, dim, length, complex_dtype(a), power, length)


def real_along(a: Array, dim: int, power: float) -> Array:
    """The nonnegative frequencies of real numbers."""
    length = length_of(a, dim)
    if not HAS_UFUNCS:
        return scaled(np.fft.rfft(a, axis=dim), length, power)
    loop = ufuncs.rfft_n_odd if length % 2 else ufuncs.rfft_n_even
    return run(loop, a, dim, length // 2 + 1, complex_dtype(a), power, length)


def to_real_along(a: Array, dim: int, power: float, length: int) -> Array:
    """Real numbers of which these are the nonnegative frequencies."""
    if not HAS_UFUNCS:
        return scaled(np.fft.irfft(a, length, axis=dim, norm="forward"), length, power)
    return run(ufuncs.irfft, a, dim, length, complex_dtype(a).type(0).real.dtype, power, length)


def run(loop: Any, a: Array, dim: int, size: int, dtype: np.dtype[Any], power: float, length: int) -> Array:
    """The result, which has another size along a dimension, in an array laid out as `a` is."""
    dim %= a.ndim
    shape = a.shape if a.shape[dim] == size else (*a.shape[:dim], size, *a.shape[dim + 1 :])
    out = np.empty(shape, dtype) if a.flags.c_contiguous else np.empty_like(a, dtype, shape=shape)
    if dim == a.ndim - 1:
        found: Array = loop(a, factor(length, power, dtype), out=out)
    else:
        found = loop(a, factor(length, power, dtype), axes=[(dim,), (), (dim,)], out=out)
    return found


def scaled(found: Array, length: int, power: float) -> Array:
    return np.asarray(found * factor(length, power, found.dtype))


def length_of(a: Array, dim: int) -> int:
    length: int = a.shape[dim]
    if length < 1:
        raise ValueError(f"fft: there is nothing to transform along dimension {dim} of size {list(a.shape)}")
    return length


@lru_cache(1024)
def factor(length: int, power: float, dtype: np.dtype[Any]) -> Any:
    """As NumPy computes it, in the precision of the transform; its loops for 1 are more precise than those for 1.0."""
    if power == 0:
        return 1
    real = np.zeros((), dtype).real.dtype
    if power == 0.5:
        return np.reciprocal(np.sqrt(length, dtype=real))
    return real.type(1 / length if power == 1 else length**-power)


COMPLEX = {"f": np.dtype(np.complex64), "F": np.dtype(np.complex64)}


def complex_dtype(a: Array) -> np.dtype[Any]:
    return COMPLEX.get(a.dtype.char) or np.result_type(a.dtype, np.complex64)
