"""Systems of equations with triangular matrices, and with matrices of which a Cholesky factor is given."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors.substitution import substitute
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    LinAlgError,
    batch_element,
    check_matrix,
    check_same_dtype,
    check_square,
    joint_batch,
    readable,
    with_batch,
)

Array: TypeAlias = NDArray[Any]


def triangular_solution_of(a: Array, b: Array, upper: bool, unitriangular: bool, op: str) -> Array:
    """Nothing of the other triangle is read; zeros on the diagonal divide."""
    check_square(op, a)
    check_matrix(op, b, "B")
    check_same_dtype(op, a, b)
    if b.shape[-2] != a.shape[-1]:
        shapes = " and ".join("x".join(map(str, m.shape[-2:])) for m in (a, b))
        raise RuntimeError(f"{op}: Incompatible shapes of A and B for the equation AX = B ({shapes})")
    batch = joint_batch(op, a, b)
    if has_no_data(a) or has_no_data(b):
        return array_without_data((*batch, *b.shape[-2:]), b.dtype)
    return substitute(with_batch(a, batch), with_batch(b, batch), upper, unitriangular)


def cholesky_inverse_of(factor: Array, upper: bool) -> Array:
    op = "cholesky_inverse"
    check_square(op, factor)
    factor = np.asarray(factor if upper else factor.conj().mT) if not has_no_data(factor) else readable(factor)
    zero = np.einsum("...ii->...i", factor) == 0
    if zero.any():
        place = batch_element(factor, zero.any(-1).reshape(-1))
        raise LinAlgError(f"{op}: {place}the inversion could not be completed because the factor is singular.")
    unit = np.broadcast_to(np.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
    inverse = substitute(factor, unit, True, False)
    return np.asarray(inverse @ inverse.conj().mT)
