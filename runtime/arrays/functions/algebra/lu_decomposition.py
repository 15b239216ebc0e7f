"""Factors of matrices by elimination, the permutations that go with them, and what says that a factor is singular."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factored import first_zero
from gradsmith.runtime.arrays.functions.algebra.factors.elimination import (
    eliminate,
    exchange_rows,
    permutation_matrices,
)
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    LinAlgError,
    batch_element,
    check_inexact,
    with_batch,
)
from gradsmith.runtime.arrays.functions.algebra.small_matrices import elimination
from gradsmith.runtime.arrays.functions.arrangements import diagonal_of, tril_of, triu_of

Array: TypeAlias = NDArray[Any]


def lu_compact_of(a: Array, pivot: bool, check: bool, op: str) -> tuple[Array, Array, Array]:
    """Both factors in one matrix, the rows exchanged at each step, and the first step without a pivot, or 0."""
    check_inexact(op, a)
    if a.ndim < 2:
        raise RuntimeError(f"{op}: Expected tensor with 2 or more dimensions. Got size: {list(a.shape)} instead")
    if not pivot:
        raise RuntimeError(f"{op}: LU without pivoting is not implemented on the CPU; leave out pivot=False")
    batch, steps = a.shape[:-2], min(a.shape[-2:])
    if has_no_data(a):
        shapes = (*batch, steps), batch
        pivots, info = (array_without_data(shape, np.dtype(np.int32)) for shape in shapes)
        return array_without_data(a.shape, a.dtype), pivots, info
    are_few = math.prod(batch) <= 2
    factors, pivots = eliminate(a) if are_few or not elimination.is_small_batch(a) else elimination.lu(a)
    info = first_zero(factors)
    if check and info.any():
        raise singular_factor(op, a, info)
    return factors, pivots, info


def singular_factor(op: str, a: Array, info: Array) -> LinAlgError:
    failed = info.reshape(-1) > 0
    step = int(info.reshape(-1)[np.argmax(failed)])
    return LinAlgError(
        f"{op}: {batch_element(a, failed)}U[{step},{step}] is zero and using it on lu_solve would result in a division "
        "by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)"
    )


def permuted_rows_of(a: Array, pivots: Array, inverse: bool, op: str) -> Array:
    """The product of the permutation matrix, or of its inverse, and a matrix."""
    if a.ndim < 2:
        raise RuntimeError(f"{op}: The input tensor B must have at least 2 dimensions, but has {a.ndim}")
    if pivots.dtype.kind not in "iu" or not pivots.ndim:
        shown = f"{pivots.dtype} of {pivots.ndim} dimensions"
        raise RuntimeError(f"{op}: pivots should be those of linalg.lu_factor, a Tensor of int32, but they are {shown}")
    batch = batch_with(op, pivots, a)
    if has_no_data(a) or has_no_data(pivots):
        return array_without_data((*batch, *a.shape[-2:]), a.dtype)
    check_places(op, pivots, a.shape[-2])
    if pivots.ndim > 1:
        a, pivots = with_batch(a, batch), with_batch(pivots, batch, 1)
    return exchange_rows(a, pivots, not inverse)


def batch_with(op: str, pivots: Array, a: Array) -> tuple[int, ...]:
    """The dimensions of the batch, to which both have to broadcast."""
    if pivots.shape[:-1] == a.shape[:-2]:
        return a.shape[:-2]
    try:
        return np.broadcast_shapes(a.shape[:-2], pivots.shape[:-1])
    except ValueError:
        raise RuntimeError(
            f"{op}: the batch dimensions of the pivots, {list(pivots.shape[:-1])}, and of B, {list(a.shape[:-2])}, do "
            "not broadcast"
        ) from None


def check_places(op: str, pivots: Array, rows: int) -> None:
    if pivots.shape[-1] > rows:
        raise RuntimeError(f"{op}: there are {pivots.shape[-1]} pivots for {rows} rows")
    if pivots.size and (pivots.min() < 1 or pivots.max() > rows):
        raise RuntimeError(
            f"{op}: pivots must be between 1 and the number of rows, {rows}, but they are between {pivots.min()} and "
            f"{pivots.max()}; pass those of linalg.lu_factor"
        )


def row_permutation_of(factors: Array, pivots: Array, op: str) -> Array:
    """The permutation matrix P of A = P L U."""
    check_dims(factors)
    rows = factors.shape[-2]
    if has_no_data(factors):
        return array_without_data((*factors.shape[:-1], rows), factors.dtype)
    found = permutation_matrices(factors, pivots)
    if found is not None:
        return found
    unit = np.broadcast_to(np.eye(rows, dtype=factors.dtype), (*factors.shape[:-2], rows, rows))
    return permuted_rows_of(unit, pivots, False, op)


def lower_factor_of(factors: Array) -> Array:
    """The lower triangle, of as many columns as elimination has steps, with ones on its diagonal."""
    check_dims(factors, "factors of a matrix")
    steps = min(factors.shape[-2:])
    if has_no_data(factors):
        return array_without_data((*factors.shape[:-1], steps), factors.dtype)
    lower = tril_of(factors[..., :steps], -1)
    diagonal_of(lower, 0, -2, -1).fill(1)
    return lower


def upper_factor_of(factors: Array) -> Array:
    """The upper triangle, of as many rows as elimination has steps."""
    check_dims(factors, "factors of a matrix")
    steps = min(factors.shape[-2:])
    if has_no_data(factors):
        return array_without_data((*factors.shape[:-2], steps, factors.shape[-1]), factors.dtype)
    return triu_of(factors[..., :steps, :], 0)


def unit_columns_of(a: Array) -> Array:
    """Of the unit matrix as many rows as the matrix has, and as many columns as it has steps of elimination."""
    check_dims(a)
    shape = *a.shape[:-1], min(a.shape[-2:])
    if has_no_data(a):
        return array_without_data(shape, a.dtype)
    return np.array(np.broadcast_to(np.eye(*shape[-2:]), shape), a.dtype)


def check_dims(a: Array, what: str = "matrices") -> None:
    if a.ndim < 2:
        raise RuntimeError(f"expected {what}, with 2 or more dimensions, but got size {list(a.shape)}")
