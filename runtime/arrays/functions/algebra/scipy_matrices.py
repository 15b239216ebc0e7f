"""Square roots, logarithms and equations of matrices, by functions of SciPy that each op hands over."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors.substitution import substitute
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    LinAlgError,
    batch_element,
    check_inexact,
    check_same_dtype,
    check_square,
)

Array: TypeAlias = NDArray[Any]
Function: TypeAlias = Callable[..., Any]

SMALL = 1e-10  # beside real numbers: their squares are below rounding
MOST_DENSE, NEARLY = 128, 1e-10  # rows of a Toeplitz matrix, and what a solution may leave beside matrix and solution
NEAR_ONE, POINTS = 0.25, 8  # eight points are exact to rounding for what differs this much from the unit matrix


def each_of(op: str, function: Function, shape: tuple[int, ...], operands: list[tuple[Array, int]]) -> Array:
    """The results, of a shape, for each of a batch of operands, of which the number of dimensions of one is given."""
    dtype = operands[0][0].dtype
    try:
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - ndim] for a, ndim in operands))
    except ValueError:
        shapes = " and ".join(str(list(a.shape)) for a, _ in operands)
        raise RuntimeError(f"{op}: the batch dimensions of operands of sizes {shapes} do not broadcast") from None
    if any(has_no_data(a) for a, _ in operands):
        return array_without_data((*batch, *shape), dtype)
    found = np.zeros((*batch, *shape), dtype)
    if not found.size:
        return found
    if not all(np.isfinite(a).all() for a, _ in operands):
        raise LinAlgError(f"{op}: the input contains infinities or NaN, for which there is no result")
    parts = [np.broadcast_to(a, (*batch, *a.shape[a.ndim - ndim :])) for a, ndim in operands]
    for place in np.ndindex(batch):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[place] = checked(dtype, function(*(part[place] for part in parts)))
        except (np.linalg.LinAlgError, ValueError) as error:
            failed = np.arange(math.prod(batch)) == np.ravel_multi_index(place, batch) if batch else np.ones(1, bool)
            raise LinAlgError(f"{op}: {batch_element(found, failed) if batch else ''}{error}") from None
    return found


def checked(dtype: np.dtype[Any], result: Any) -> Array:
    """Finite, and real where the matrices are."""
    found = np.asarray(result)
    if not np.isfinite(found).all():
        raise LinAlgError("the matrix is singular and has no result")
    if dtype.kind == "f" and found.dtype.kind == "c":
        raise LinAlgError("the matrix of real numbers has no real result; convert it to complex numbers")
    return found


# ---- functions of matrices, by Schur's form and in double precision


def linalg_sqrtm_of(schur: Function, a: Array) -> Array:
    return function_of(triangular_root, "linalg.sqrtm", schur, a)


def linalg_logm_of(schur: Function, a: Array) -> Array:
    return function_of(triangular_logarithm, "linalg.logm", schur, a)


def function_of(function: Callable[[Array], Array], op: str, schur: Function, a: Array) -> Array:
    """The function of each matrix, given that of a triangular one."""

    def result(matrix: Array) -> Array:
        form, basis = schur(matrix.astype(complex), output="complex")
        found = basis @ function(form) @ basis.conj().T
        return real_if_near(matrix, found)

    check_square(op, a)
    return each_of(op, lambda matrix: of_almost_real(result, matrix), a.shape[-2:], [(a, 2)])


def of_almost_real(function: Callable[[Array], Array], matrix: Array) -> Array:
    """With imaginary parts that rounding would cover: they are a tangent, which a block of twice the size shows."""
    real, imaginary = matrix.real, matrix.imag
    if imaginary.any() and is_almost_real(matrix):
        scale = np.abs(imaginary).max() / np.abs(real).max()
        found = function(np.block([[real, imaginary / scale], [np.zeros_like(real), real]]).astype(float))
        if found.dtype.kind == "f":
            size = len(matrix)
            return np.asarray(found[:size, :size] + 1j * scale * found[:size, size:])
    return function(matrix)


def is_almost_real(x: Array) -> bool:
    return bool(np.abs(x.imag).max(initial=0) <= SMALL * np.abs(x.real).max(initial=0))


def real_if_near(matrix: Array, result: Array) -> Array:
    """Without the imaginary parts that rounding has left in the result of a matrix of real numbers."""
    return result.real if matrix.dtype.kind == "f" and is_almost_real(result) else result


def triangular_root(form: Array) -> Array:
    """Column by column, as Björck and Hammarling (1983) do."""
    found = np.diag(np.sqrt(np.diagonal(form)))
    with np.errstate(all="ignore"):
        for j in range(1, len(found)):
            inner = found[:j, :j] + found[j, j] * np.eye(j)
            found[:j, j] = substitute(inner, form[:j, j : j + 1], True, False)[:, 0]
    return found


def triangular_logarithm(form: Array) -> Array:
    """The logarithm of a root near 1, by Gauss's rule for its integral (Dieci, Morini and Papini, 1996)."""
    values, unit = np.diagonal(form), np.eye(len(form))
    if not values.all():
        raise np.linalg.LinAlgError("the matrix is singular and has no logarithm")
    root, halvings = form, 0
    while NEAR_ONE < np.abs(root - unit).sum(0).max(initial=0) < np.inf:
        root, halvings = triangular_root(root), halvings + 1
    rest = root - unit
    terms = [w * substitute(2 * unit + (1 + t) * rest, rest, True, False) for t, w in zip(*rule())]
    found = 2.0**halvings * np.sum(terms, axis=0)
    np.einsum("ii->i", found)[...] = np.log(values)
    return np.asarray(found)


@cache
def rule() -> tuple[Array, Array]:
    """Points between -1 and 1, and their weights."""
    return np.polynomial.legendre.leggauss(POINTS)


# ---- equations


def linalg_solve_sylvester_of(function: Function, a: Array, b: Array, q: Array) -> Array:
    op = "linalg.solve_sylvester"
    check_square(op, a)
    check_square(op, b)
    check_same_dtype(op, a, b)
    check_same_dtype(op, a, q)
    shape = a.shape[-1], b.shape[-1]
    if q.shape[-2:] != shape:
        raise RuntimeError(f"{op}: expected Q to be {shape[0]} by {shape[1]}, but its size is {list(q.shape)}")

    def solution(a: Array, b: Array, q: Array) -> Array:
        if a.dtype.kind == "f" or not (is_almost_real(a) and is_almost_real(b)):
            return regular(a, b, q, np.asarray(function(a, b, q)))
        found = regular(a, b, q, by_parts(a, b, q))
        return found - 1j * by_parts(a, b, a.imag @ found + found @ b.imag)

    def by_parts(a: Array, b: Array, q: Array) -> Array:
        return np.asarray(function(a.real, b.real, q.real) + 1j * function(a.real, b.real, q.imag))

    return each_of(op, solution, shape, [(a, 2), (b, 2), (q, 2)])


def regular(a: Array, b: Array, q: Array, found: Array) -> Array:
    """The solution, which SciPy gives for a slightly different equation where this one has none."""
    size, wanted = np.abs(a).max(initial=0) + np.abs(b).max(initial=0), np.abs(q).max(initial=0)
    if np.abs(found).max(initial=0) * size * np.finfo(found.dtype).eps > wanted or 0 == size < wanted:
        raise np.linalg.LinAlgError("the equation is singular: A and -B have an eigenvalue in common")
    return found


def linalg_solve_are_of(function: Function, op: str, a: Array, b: Array, q: Array, r: Array) -> Array:
    """Solutions of Riccati's equations, with the symmetric parts of `q` and `r`."""
    for square in (a, q, r):
        check_square(op, square)
    for other in (b, q, r):
        check_same_dtype(op, a, other)
    size, inputs = a.shape[-1], r.shape[-1]
    for name, matrix, shape in (("B", b, (size, inputs)), ("Q", q, (size, size))):
        if matrix.ndim < 2 or matrix.shape[-2:] != shape:
            raise RuntimeError(
                f"{op}: expected {name} to be {shape[0]} by {shape[1]}, but its size is {list(matrix.shape)}"
            )

    def solution(a: Array, b: Array, q: Array, r: Array) -> Array:
        found = np.asarray(function(a, b, (q + q.T) / 2, (r + r.T) / 2))
        return np.asarray((found + found.T) / 2)

    return each_of(op, solution, (size, size), [(a, 2), (b, 2), (q, 2), (r, 2)])


def banded_solve_of(function: Function, bands: Array, b: Array, lower: int, upper: int) -> Array:
    op = "linalg.solve_banded"
    for a in (bands, b):
        check_inexact(op, a)
    check_same_dtype(op, bands, b)
    if bands.ndim < 2 or b.ndim < 2 or bands.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"{op}: expected diagonals as long as the right-hand side has rows, but their sizes are "
            f"{list(bands.shape)} and {list(b.shape)}"
        )
    if min(lower, upper) < 0 or bands.shape[-2] != lower + upper + 1:
        raise RuntimeError(
            f"{op}: expected {lower} + {upper} + 1 diagonals, as l_and_u says, but there are {bands.shape[-2]}"
        )
    return each_of(op, lambda ab, x: function((lower, upper), ab, x), b.shape[-2:], [(bands, 2), (b, 2)])


def toeplitz_solve_of(levinson: Function, product: Function, column: Array, row: Array, b: Array) -> Array:
    """By Levinson's recursion where it is faster and what it leaves is small, which it need not be."""
    op = "linalg.solve_toeplitz"
    for a in (column, row, b):
        check_inexact(op, a)
    check_same_dtype(op, column, row)
    check_same_dtype(op, column, b)
    size = column.shape[-1:]
    if not size or b.ndim < 2 or row.shape[-1:] != size or b.shape[-2:-1] != size:
        raise RuntimeError(
            f"{op}: expected a column and a row as long as the right-hand side has rows, but their sizes are "
            f"{list(column.shape)}, {list(row.shape)} and {list(b.shape)}"
        )

    def solution(c: Array, r: Array, b: Array) -> Array:
        if len(c) > MOST_DENSE:
            try:
                found = levinson((c, r), b)
            except np.linalg.LinAlgError:
                return dense(c, r, b)
            rest = b - product((c, r), found)
            if np.abs(rest).max() <= NEARLY * (np.abs(c).sum() + np.abs(r[1:]).sum()) * np.abs(found).max():
                return np.asarray(found + levinson((c, r), rest))
        return dense(c, r, b)

    return each_of(op, solution, b.shape[-2:], [(column, 1), (row, 1), (b, 2)])


def dense(column: Array, row: Array, b: Array) -> Array:
    i, j = np.indices((len(column), len(column)))
    return np.linalg.solve(np.where(i >= j, column[np.abs(i - j)], row[np.abs(i - j)]), b)
