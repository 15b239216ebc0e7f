"""What stands between the vectors in gradients of eigenvectors and of singular vectors, in few passes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data

Array: TypeAlias = NDArray[Any]


def eigen_inner_of(turned: Array, values: Array, slopes: Array) -> Array:
    """Of `turned` half of what is not Hermitian, divided by the distances of the values; `slopes` on the diagonal."""
    batch = np.broadcast_shapes(turned.shape[:-2], values.shape[:-1], slopes.shape[:-1])
    if any(has_no_data(x) for x in (turned, values, slopes)):
        return array_without_data((*batch, *turned.shape[-2:]), turned.dtype)
    doubled = values + values
    gaps = doubled[..., None, :] - doubled[..., None]
    diagonals_in(gaps)[...] = 1
    with np.errstate(all="ignore"):
        inner = np.asarray(less_adjoint(turned) / gaps)
    return with_diagonal(inner, slopes, batch)


def singular_inner_of(left: Array, right: Array, values: Array, slopes: Array) -> Array:
    """The same for singular values, with both products of vectors and their gradients."""
    parts = (left.shape[:-2], right.shape[:-2], values.shape[:-1], slopes.shape[:-1])
    batch = np.broadcast_shapes(*parts)
    if any(has_no_data(x) for x in (left, right, values, slopes)):
        return array_without_data((*batch, *left.shape[-2:]), left.dtype)
    turn_u, turn_v = less_adjoint(left), less_adjoint(right)
    with np.errstate(all="ignore"):
        if left.dtype.kind == "c":
            slopes = slopes + (diagonals_in(turn_u) - diagonals_in(turn_v)) / (4 * values)
        squares = values * values
        gaps = squares[..., None, :] - squares[..., None]
        diagonals_in(gaps)[...] = 1
        inner = turn_u * values[..., None, :] + turn_v * values[..., None]
        inner = np.asarray(inner / gaps)
    return with_diagonal(inner, slopes, batch)


def less_adjoint(a: Array) -> Array:
    return np.asarray(a - a.conj().mT)


def diagonals_in(a: Array) -> Array:
    return np.asarray(np.einsum("...ii->...i", a))


def with_diagonal(a: Array, diagonal: Array, batch: tuple[int, ...]) -> Array:
    """In place, unless the diagonals are more."""
    if a.shape[:-2] != batch:
        a = np.broadcast_to(a, (*batch, *a.shape[-2:])).copy()
    diagonals_in(a)[...] = diagonal
    return a
