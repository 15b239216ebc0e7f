"""Cosine and sine transforms of real numbers, by SciPy's pocketfft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data

from .fourier import floating

Array: TypeAlias = NDArray[Any]
Transform = Callable[..., Any]

# SciPy's word for the power of the number of elements that a transform is divided by.
FORWARD = {0.0: "backward", 0.5: "ortho", 1.0: "forward"}


def real_transform_of(
    transform: Transform, a: Array, dims: tuple[int, ...], sine: bool, kind: int, power: float, transposed: bool
) -> Array:
    """`transform` is SciPy's dct, or its dst; the transposed matrix is that of its gradient."""
    if kind not in (1, 2, 3, 4) or power not in FORWARD:
        raise RuntimeError(f"fft: no cosine transform is of type {kind} and divided by the power {power}")
    a = floating(a)
    check_dims(a, dims)
    check_lengths(a, dims, sine, kind)
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype)
    if a.size == 0 or not dims:
        return np.array(a)
    along = transposed_along if transposed and power != 0.5 else orthogonal_along if transposed else plainly_along
    for dim in dims:
        a = along(transform, a, dim, sine, kind, FORWARD[power])
    return a


def check_dims(a: Array, dims: tuple[int, ...]) -> None:
    if len(set(dims)) < len(dims) or not all(-a.ndim <= dim < 0 for dim in dims):
        raise RuntimeError(
            f"fft: expected dimensions counted from the end, each of them once, but got {list(dims)} of {a.ndim}"
        )


def check_lengths(a: Array, dims: tuple[int, ...], sine: bool, kind: int) -> None:
    if kind == 1 and not sine and any(a.shape[dim] < 2 for dim in dims):
        raise RuntimeError(
            f"fft: the cosine transform of type 1 needs two elements or more, but got the shape {a.shape}"
        )


def plainly_along(transform: Transform, a: Array, dim: int, sine: bool, kind: int, norm: str) -> Array:
    return np.asarray(transform(a, kind, axis=dim, norm=norm))


def orthogonal_along(transform: Transform, a: Array, dim: int, sine: bool, kind: int, norm: str) -> Array:
    """The inverse of an orthogonal matrix."""
    return plainly_along(transform, a, dim, sine, partner(kind), norm)


def transposed_along(transform: Transform, a: Array, dim: int, sine: bool, kind: int, norm: str) -> Array:
    """Without the elements that count half, at the ends, types 1 and 4 are symmetric, and 2 and 3 transposed."""
    shares = end_shares(a.shape[dim], sine, kind).astype(a.real.dtype)
    shares = shares.reshape([-1 if place == dim % a.ndim else 1 for place in range(a.ndim)])
    a = a / shares if kind in (1, 2) else a
    found = plainly_along(transform, a, dim, sine, partner(kind), norm)
    return found * shares if kind in (1, 3) else found


def partner(kind: int) -> int:
    return {2: 3, 3: 2}.get(kind, kind)


def end_shares(length: int, sine: bool, kind: int) -> Array:
    """One half for the elements that the transform, or that of type 3, adds once instead of twice."""
    shares = np.ones(length)
    if kind in (2, 3):
        shares[-1 if sine else 0] = 0.5
    elif kind == 1 and not sine:
        shares[[0, -1]] = 0.5
    return shares
