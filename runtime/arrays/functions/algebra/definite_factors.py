"""Triangular factors of positive definite matrices, their gradients, and what says that a matrix is not one."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors.definite import factor_definite, slopes_of_factors
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    LinAlgError,
    batch_element,
    check_square,
    joint_batch,
    with_batch,
)
from gradsmith.runtime.arrays.functions.algebra.small_matrices import elimination

Array: TypeAlias = NDArray[Any]


def cholesky_factor_of(a: Array) -> Array:
    """Only the lower triangle is read; the gradient, which is Hermitian, is that of the mean of both."""
    op = "linalg.cholesky"
    check_square(op, a)
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype)
    factors, orders = factors_and_orders(a)
    if orders.any():
        raise not_definite(op, a, orders)
    return factors


def cholesky_with_order_of(a: Array, check: bool) -> tuple[Array, Array]:
    """The factors, and the order of the first leading minor that is not positive, or 0.

    Of a matrix that has one, the columns before it are those of the factor, and the triangle behind them is what would
    be left to be factored.
    """
    op = "linalg.cholesky_ex"
    check_square(op, a)
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype), array_without_data(a.shape[:-2], np.dtype(np.int32))
    factors, orders = factors_and_orders(a)
    if not orders.any():
        return factors, orders
    if check:
        raise not_definite(op, a, orders)
    for place in map(tuple, np.argwhere(orders)):
        factors[place] = _unfinished_factor(a[place], int(orders[place]) - 1)
    return factors, orders


def _unfinished_factor(a: Array, done: int) -> Array:
    """By one step of blocks, the first as large as it is positive definite; the lower triangle is read."""
    factor = np.tril(a)
    if done:
        first = factor[:done, :done] = np.linalg.cholesky(a[:done, :done])
        below = factor[done:, :done] = np.linalg.solve(first, a[done:, :done].conj().T).conj().T
        factor[done:, done:] -= np.tril(below @ below.conj().T)
    return factor


def factors_and_orders(a: Array) -> tuple[Array, Array]:
    """By the kernel of many small matrices where it can do them all."""
    if elimination.is_small_batch(a):
        factors = elimination.cholesky(a)
        if factors is not None:
            return factors, np.zeros(a.shape[:-2], np.int32)
    return factor_definite(a)


def not_definite(op: str, a: Array, orders: Array) -> LinAlgError:
    failed = orders.reshape(-1) > 0
    order = int(orders.reshape(-1)[np.argmax(failed)])
    return LinAlgError(
        f"{op}: {batch_element(a, failed)}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite)."
    )


def cholesky_slope_of(factor: Array, gradient: Array) -> Array:
    """The gradient of a matrix, a Hermitian one, for that of its factor; lower triangles are read.

    NaN for a factor that `cholesky_ex` could not finish.
    """
    batch = joint_batch("linalg.cholesky", factor, gradient)
    if has_no_data(factor) or has_no_data(gradient):
        return array_without_data((*batch, *factor.shape[-2:]), factor.dtype)
    factor = with_batch(factor, batch)
    slopes = slopes_of_factors(factor, with_batch(gradient, batch))
    finished = (np.diagonal(factor, 0, -2, -1).real > 0).all(-1)
    if not finished.all():
        slopes[~finished] = np.nan
    return slopes
