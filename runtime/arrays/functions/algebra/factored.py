"""Solutions, inverses and determinants by the factors of a matrix, which forward finds and backward uses again.

Small matrices have no factors, since kernels that eliminate many of them side by side are quicker than any use of
factors: theirs are arrays of no rows.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors.elimination import (
    eliminate,
    invert_by_factors,
    parity,
    solve_by_factors,
)
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    LinAlgError,
    batch_element,
    check_inexact,
    check_same_dtype,
    check_square,
    converged,
    joint_batch,
    readable,
    with_batch,
)
from gradsmith.runtime.arrays.functions.algebra.small_matrices import elimination, singular_values
from gradsmith.runtime.arrays.functions.arrangements import diagonal_of

Array: TypeAlias = NDArray[Any]

# What a singular matrix means for an op that refuses it.
CONSEQUENCES = {"linalg.solve": "The solver failed", "linalg.inv": "the inversion could not be completed"}

# ---- factors


def matrix_factors_of(a: Array, op: str) -> tuple[Array, Array]:
    """Both factors in one matrix and the pivots, or no rows of them where the small kernels compute without."""
    check_square(op, a)
    steps = 0 if not op.endswith("_ex") and elimination.is_small_batch(a) else a.shape[-1]
    if has_no_data(a):
        shapes = (*a.shape[:-2], steps, steps), (*a.shape[:-2], steps)
        return array_without_data(shapes[0], a.dtype), array_without_data(shapes[1], np.dtype(np.int32))
    if steps < a.shape[-1]:
        return np.empty((*a.shape[:-2], 0, 0), a.dtype), np.empty((*a.shape[:-2], 0), np.int32)
    factors, pivots = eliminate(a)
    if op in CONSEQUENCES and not diagonal_in(factors).all():
        raise singular(op, a)
    return factors, pivots


def diagonal_in(factors: Array) -> Array:
    return diagonal_of(factors, 0, -2, -1)


def have_rows(factors: Array, a: Array) -> bool:
    return bool(factors.shape[-1] == a.shape[-1])


def singular(op: str, a: Array) -> LinAlgError:
    """The error for a batch with an exactly singular matrix; nearly singular ones are not named."""
    sizes = np.abs(elimination.det(a)).reshape(-1)
    place = batch_element(a, sizes == sizes.min())
    return LinAlgError(f"{op}: {place}{CONSEQUENCES[op]} because the input matrix is singular.")


# ---- systems of equations


def factored_solution_of(a: Array, b: Array, factors: Array, pivots: Array, adjoint: bool, op: str) -> Array:
    """The solution for a matrix, or for its adjoint."""
    check_right_side(op, a, b)
    batch = joint_batch(op, a, b)
    if has_no_data(a) or has_no_data(b):
        return array_without_data((*batch, *b.shape[-2:]), b.dtype)
    if have_rows(factors, a):
        return by_factors(factors, pivots, b, batch, adjoint)
    try:
        return elimination.solve(a.conj().mT if adjoint else a, b)
    except np.linalg.LinAlgError:
        raise singular(op, a) from None


def check_right_side(op: str, a: Array, b: Array) -> None:
    check_inexact(op, b)
    check_same_dtype(op, a, b)
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        shown = "x".join(map(str, b.shape[-2:]))
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation AX = B ({a.shape[-2]}x{a.shape[-1]} and {shown})"
        )


def by_factors(factors: Array, pivots: Array, b: Array, batch: tuple[int, ...], adjoint: bool) -> Array:
    """A system with the adjoint is the conjugate of one with the transpose."""
    conjugates = adjoint and b.dtype.kind == "c"
    if math.prod(factors.shape[:-2]) != 1:
        factors, pivots = with_batch(factors, batch), with_batch(pivots, batch, 1)
    found = solve_by_factors(factors, pivots, with_batch(b.conj() if conjugates else b, batch), adjoint)
    return found.conj() if conjugates else found


# ---- inverses


def inverse_of(a: Array) -> Array:
    op = "linalg.inv"
    check_square(op, a)
    a = readable(a)
    if not elimination.is_small_batch(a):
        return invert_by_factors(*matrix_factors_of(a, op))
    try:
        return elimination.inv(a)
    except np.linalg.LinAlgError:
        raise singular(op, a) from None


def inverse_or_nan_of(a: Array) -> Array:
    """The inverse, with NaN for each numerically singular matrix."""
    return factored_inverse_or_nan_of(a, *matrix_factors_of(a, "linalg.slogdet"))


def factored_inverse_of(a: Array, factors: Array, pivots: Array) -> Array:
    """Infinities and NaN where a matrix is singular."""
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype)
    return with_soundness(a, factors, pivots)[0]


def factored_inverse_or_nan_of(a: Array, factors: Array, pivots: Array) -> Array:
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype)
    found, sound = with_soundness(a, factors, pivots)
    if not sound.all():
        found[~sound] = np.nan
    return found


def with_soundness(a: Array, factors: Array, pivots: Array) -> tuple[Array, Array]:
    """The inverse, and for each matrix whether any digits of it are right."""
    if not have_rows(factors, a):
        return elimination.inverse(a) or with_soundness(a, *eliminate(a))
    found = invert_by_factors(factors, pivots)
    with np.errstate(all="ignore"):
        return found, condition_of(a, found)[..., 0, 0] * np.finfo(a.dtype).eps < 0.1


def condition_of(a: Array, inverse: Array) -> Array:
    """How much an error of each matrix grows in its inverse, but for a factor of the size of the matrix."""
    return np.asarray(largest(a) * largest(inverse))


def largest(a: Array) -> Array:
    if a.dtype.kind == "c":
        a = np.abs(a)
    highest, lowest = (np.asarray(f((-2, -1), keepdims=True, initial=0)) for f in (a.max, a.min))
    return np.asarray(np.maximum(highest, -lowest))


# ---- determinants


def factored_det_of(a: Array, factors: Array, pivots: Array) -> Array:
    if has_no_data(a):
        return array_without_data(a.shape[:-2], a.dtype)
    if not have_rows(factors, a):
        return elimination.det(a)
    diagonal = diagonal_in(factors)
    with np.errstate(all="ignore"):
        det = np.asarray(diagonal.prod(-1) * parity(pivots), a.dtype)
        if not np.isfinite(det).all() or (np.abs(det) < np.finfo(a.dtype).tiny).any():
            det = within_range(det, factors, pivots)
    return det


def within_range(det: Array, factors: Array, pivots: Array) -> Array:
    """By logarithms where a product left the range of numbers, perhaps on the way to a number within it."""
    sign, logarithm = sign_and_logarithm(factors, pivots)
    left = ~np.isfinite(det) | (np.abs(det) < np.finfo(det.dtype).tiny)
    return np.asarray(np.where(left, sign * np.exp(logarithm), det), det.dtype)


def sign_and_logarithm(factors: Array, pivots: Array) -> tuple[Array, Array]:
    diagonal = diagonal_in(factors)
    wide = np.complex128 if diagonal.dtype.kind == "c" else np.float64
    logarithms = np.log(np.abs(diagonal.astype(wide)))
    signs = np.sign(diagonal).prod(-1) * parity(pivots)
    return np.asarray(signs, diagonal.dtype), np.asarray(logarithms.sum(-1), np.finfo(diagonal.dtype).dtype)


def factored_slogdet_of(a: Array, factors: Array, pivots: Array) -> tuple[Array, Array]:
    if has_no_data(a):
        real = np.finfo(a.dtype).dtype
        return array_without_data(a.shape[:-2], a.dtype), array_without_data(a.shape[:-2], real)
    if not have_rows(factors, a):
        return elimination.slogdet(a)
    with np.errstate(all="ignore"):
        return sign_and_logarithm(factors, pivots)


# ---- adjugates


def factored_adjugate_of(a: Array, factors: Array, pivots: Array) -> Array:
    """The determinant times the inverse, or products of singular values where that is not sound."""
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype)
    found, sound = elimination.adjugate(a) or adjugate_by_inverse(a, factors, pivots)
    if not sound.all():
        found[~sound] = adjugate_by_singular_values(a[~sound])
    return found


def adjugate_by_inverse(a: Array, factors: Array, pivots: Array) -> tuple[Array, Array]:
    """The determinant times the inverse, and which are sound.

    Of ill-conditioned matrices half the digits would be lost; a determinant that underflows has lost them all.
    """
    det, inverse = factored_det_of(a, factors, pivots), invert_by_factors(factors, pivots)
    limits = np.finfo(a.dtype)
    with np.errstate(all="ignore"):
        sound = (condition_of(a, inverse)[..., 0, 0] < limits.eps**-0.5) & (np.abs(det) >= limits.tiny)
        np.multiply(inverse, det[..., None, None], out=inverse)
    return inverse, sound


def adjugate_by_singular_values(a: Array) -> Array:
    """The adjugate of singular matrices too: products of all singular values but one."""
    u, s, vh = converged("linalg.det", singular_values.svd, a, True)
    others = np.broadcast_to(s[..., None, :], (*s.shape, s.shape[-1])).copy()
    np.einsum("...ii->...i", others)[...] = 1
    phase = elimination.det(u) * elimination.det(vh)
    scaled = others.prod(-1) * phase[..., None]
    return np.asarray(np.matmul(vh.conj().mT * scaled[..., None, :], u.conj().mT))


# ---- a number instead of an error


def first_zero_pivot_of(factors: Array, check: bool, op: str) -> Array:
    """The first step of elimination that found no pivot, or 0."""
    if has_no_data(factors):
        return array_without_data(factors.shape[:-2], np.dtype(np.int32))
    info = first_zero(factors)
    if check and info.any():
        failed = info.reshape(-1) > 0
        step = int(info.reshape(-1)[np.argmax(failed)])
        raise LinAlgError(
            f"{op}: {batch_element(factors, failed)}The diagonal element {step} is zero, the "
            f"{'inversion' if 'inv' in op else 'solution'} could not be completed because the input matrix is singular."
        )
    return info


def first_zero(factors: Array) -> Array:
    diagonal = diagonal_in(factors)
    if np.count_nonzero(diagonal) == diagonal.size:
        return np.zeros(factors.shape[:-2], np.int32)
    return np.where((diagonal == 0).any(-1), (diagonal == 0).argmax(-1) + 1, 0).astype(np.int32)
