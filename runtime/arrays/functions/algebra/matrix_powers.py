"""Powers and the exponential of square matrices, on batches too."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.functions.algebra.factored import inverse_of
from gradsmith.runtime.arrays.functions.algebra.linalg import product_of
from gradsmith.runtime.arrays.functions.algebra.matrices import (
    check_inexact,
    check_squares,
    readable,
)
from gradsmith.runtime.arrays.functions.algebra.small_matrices import elimination

Array: TypeAlias = NDArray[Any]


def matrix_power_of(a: Array, n: int) -> Array:
    check_squares("linalg.matrix_power", a)
    positive = inverse_of(a) if n < 0 else readable(a)
    return _power(positive, abs(n)) if n not in (0, 1) else np.array(np.linalg.matrix_power(positive, n))


def _power(a: Array, n: int) -> Array:
    """By repeated squaring, as NumPy's."""
    if n == 3:
        return product_of(product_of(a, a), a)
    square = a
    result: Array | None = None
    while n:
        n, is_odd = divmod(n, 2)
        if is_odd:
            result = square if result is None else product_of(result, square)
        if n:
            square = product_of(square, square)
    return a.copy() if result is None or result is a else result


# ---- exponential

# Coefficients of the Padé approximant of degree 13, and the norm up to which double precision cannot tell it from the
# exponential.
PADE = tuple(float(math.factorial(26 - k) // (math.factorial(k) * math.factorial(13 - k))) for k in range(14))
GREATEST_NORM = 5.37


def block_exponential_of(a: Array, block: int) -> Array:
    """By scaling, a Padé approximant and squaring, in double precision whatever the dtype; NaN without finite sums.

    The blocks on the diagonal alone decide about the scale: what is above them can be the gradient of a result, of any
    size, and the exponential is as linear in it as in exact arithmetic.
    """
    op = "linalg.matrix_exp"
    check_squares(op, a)
    if a.dtype != np.float16:
        check_inexact(op, a)
    with np.errstate(all="ignore"):
        exact = readable(a).astype(np.result_type(a.dtype, np.float64))
        found = _exponential(exact.reshape(math.prod(a.shape[:-2]), *a.shape[-2:]), block)
        return np.asarray(found.reshape(a.shape).astype(a.dtype))


def _exponential(matrices: Array, block: int) -> Array:
    norms = _greatest_norm(matrices, block)
    finite = np.isfinite(norms)
    squarings = np.maximum(np.frexp(np.where(finite, norms, 0) / GREATEST_NORM)[1], 0)
    found = _pade(np.where(finite[:, None, None], matrices, 0) * np.ldexp(1.0, -squarings)[:, None, None])
    for i in range(squarings.max(initial=0)):
        left = squarings > i
        found[left] = found[left] @ found[left]
    found[~finite] = np.nan
    return found


def _greatest_norm(matrices: Array, block: int) -> Array:
    """Of the blocks on the diagonal."""
    count = matrices.shape[-1] // block if block else 0
    blocks = matrices.reshape(len(matrices), count, block, count, block)
    return np.asarray(np.abs(np.einsum("nikil->nikl", blocks)).sum(2).max((1, 2), initial=0))


def _pade(a: Array) -> Array:
    b, unit = PADE, np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    return np.asarray(elimination.solve(even - odd, even + odd))
