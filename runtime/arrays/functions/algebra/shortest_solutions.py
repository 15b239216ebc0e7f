"""Least-squares solutions, and vectors of reflections."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors import orthogonal
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    check_matrix,
    check_same_dtype,
    converged,
    joint_batch,
    readable,
    threshold,
)
from gradsmith.runtime.arrays.functions.algebra.small_matrices import singular_values

Array: TypeAlias = NDArray[Any]

LARGE = 4096  # elements of a matrix


def least_squares_of(a: Array, b: Array, rcond: Any, op: str) -> tuple[Array, Array, Array]:
    """The shortest solution, for singular values above `rcond` times the greatest; their number; all of them."""
    check_matrix(op, a)
    check_matrix(op, b, "B")
    check_same_dtype(op, a, b)
    (m, n), k = a.shape[-2:], b.shape[-1]
    if b.shape[-2] != m:
        raise RuntimeError(f"{op}: input.size(-2) should match other.size(-2), but they are {m} and {b.shape[-2]}")
    batch, real = joint_batch(op, a, b), np.finfo(a.dtype).dtype
    if has_no_data(a) or has_no_data(b):
        rank, values = array_without_data(batch, np.dtype(np.int64)), array_without_data((*batch, min(m, n)), real)
        return array_without_data((*batch, n, k), a.dtype), rank, values
    if not a.size:
        return np.zeros((*batch, n, k), a.dtype), np.zeros(batch, np.int64), np.zeros((*batch, min(m, n)), real)
    system, right = square_system(a, b) if is_tall(a, b) else (a, b)
    u, s, vh = converged(op, singular_values.svd, system, False)
    kept = s > threshold(a, s, None, rcond)
    inverted = np.divide(1, s, where=kept, out=np.zeros_like(s))
    solution = vh.conj().mT @ (inverted[..., None] * (u.conj().mT @ right))
    return solution, np.array(np.broadcast_to(kept.sum(-1), batch)), np.array(np.broadcast_to(s, (*batch, s.shape[-1])))


def is_tall(a: Array, b: Array) -> bool:
    """Have the matrices so many rows, and few right sides, that a triangular factor of both is worth its time?"""
    (m, n), k = a.shape[-2:], b.shape[-1]
    return m >= 2 * n and m * n >= LARGE and k <= max(4, n // 4) and a.shape[:-2] == b.shape[:-2]


def square_system(a: Array, b: Array) -> tuple[Array, Array]:
    """The triangular factor R of a = Q R and Q* b: the same singular values, and the same solutions."""
    n = a.shape[-1]
    triangle = orthogonal.qr(np.concatenate([a, b], -1), "r")[1]
    return np.ascontiguousarray(triangle[..., :n, :n]), triangle[..., :n, n:]


# ---- reflections


def geqrf_of(a: Array) -> tuple[Array, Array]:
    """The triangular factor with the vectors of reflections below it, and their factors."""
    check_matrix("geqrf", a)
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype), array_without_data((*a.shape[:-2], min(a.shape[-2:])), a.dtype)
    parts, factors = orthogonal.qr_parts(readable(a))
    return np.ascontiguousarray(parts.mT), factors


def reflection_vectors_of(a: Array, tau: Array, op: str) -> Array:
    """Columns below the diagonal, which is 1, as many as `tau` has elements."""
    check_matrix(op, a)
    (m, n), count = a.shape[-2:], tau.shape[-1] if tau.ndim else 0
    if m < (count if op == "ormqr" else n):  # the columns behind the reflections are read by no product
        raise RuntimeError(
            f"{op}: input.shape[-2] must be greater than or equal to input.shape[-1], but the input is {m} by {n}"
        )
    if count > n:
        raise RuntimeError(
            f"{op}: input.shape[-1] must be greater than or equal to tau.shape[-1], but they are {n} and {count}"
        )
    try:
        batch = np.broadcast_shapes(a.shape[:-2], tau.shape[:-1])
    except ValueError:
        raise RuntimeError(
            f"{op}: the batch dimensions of input and tau, {list(a.shape[:-2])} and {list(tau.shape[:-1])}, do not "
            "broadcast"
        ) from None
    if has_no_data(a) or has_no_data(tau):
        return array_without_data((*batch, m, count), a.dtype)
    found = np.broadcast_to(np.tril(a[..., :count], -1), (*batch, m, count)).copy()
    np.einsum("...ii->...i", found[..., :count, :])[...] = 1
    return np.asarray(found)
