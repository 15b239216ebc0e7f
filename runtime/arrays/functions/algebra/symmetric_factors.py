"""Factors L and D of symmetric and of Hermitian matrices, and solutions by them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors.symmetric_elimination import (
    eliminate_symmetric,
    substitute_symmetric,
)
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    LinAlgError,
    batch_element,
    check_matrix,
    check_square,
    joint_batch,
)
from gradsmith.runtime.arrays.functions.shapes import broadcast_shape

Array: TypeAlias = NDArray[Any]


def ldl_compact_of(a: Array, hermitian: bool, check: bool, op: str) -> tuple[Array, Array, Array]:
    """Both factors in one matrix, the rows exchanged at each step, and the first step without a pivot, or 0."""
    check_square(op, a)
    if has_no_data(a):
        pivots, info = (array_without_data(shape, np.dtype(np.int32)) for shape in (a.shape[:-1], a.shape[:-2]))
        return array_without_data(a.shape, a.dtype), pivots, info
    factors, pivots, info = eliminate_symmetric(a, hermitian)
    if check and info.any():
        failed = info.reshape(-1) > 0
        step = int(info.reshape(-1)[np.argmax(failed)])
        raise LinAlgError(
            f"{op}: {batch_element(a, failed)}D[{step},{step}] is zero and using it on ldl_solve would result in a "
            "division by zero. If you still want to perform the factorization, consider calling linalg.ldl_factor_ex(A)"
        )
    return factors, pivots, info


def linalg_ldl_solve_of(factors: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    op = "linalg.ldl_solve"
    check_square(op, factors)
    check_matrix(op, b, "B")
    rows = factors.shape[-1]
    if pivots.dtype.kind not in "iu" or pivots.shape[-1:] != (rows,):
        raise RuntimeError(
            f"{op}: expected pivots of linalg.ldl_factor, {rows} integers for each matrix, but got {pivots.dtype} of "
            f"size {list(pivots.shape)}"
        )
    if b.shape[-2] != rows:
        raise RuntimeError(
            f"{op}: Incompatible matrix sizes: each A matrix is {rows} by {rows} but each b matrix is {b.shape[-2]} by "
            f"{b.shape[-1]}"
        )
    joint_batch(op, factors, b)
    joint_batch(op, pivots[..., None], b)
    batch = broadcast_shape(factors.shape[:-2], pivots.shape[:-1], b.shape[:-2])
    if any(has_no_data(x) for x in (factors, pivots, b)):
        return array_without_data((*batch, *b.shape[-2:]), np.result_type(factors, b))
    dtype = np.result_type(factors, b)
    factors, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])).astype(dtype, copy=False) for x in (factors, b))
    return substitute_symmetric(factors, np.broadcast_to(pivots, (*batch, rows)), b, hermitian)
