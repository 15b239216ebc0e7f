"""Special functions: SciPy's loops over arrays of any real dtype, split among threads for large arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import (
    array_without_data,
    call_each,
    empty_of,
    get_num_threads,
    has_no_data,
    silently,
)
from gradsmith.runtime.arrays.dtypes import common_dtype, get_default_dtype
from gradsmith.runtime.arrays.functions.shapes import broadcast_shape

Array = np.ndarray[Any, Any]
Operand = Any  # an array, or a Python number beside one
Function = Callable[..., Any]

# A special function costs tens of nanoseconds per element; a chunk has to outweigh the start of a thread.
_CHUNK = 1 << 14
_LARGE = 100_000
_BLOCK = 1 << 12

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def floats_of(function: Function, *operands: Operand) -> Array:
    """An elementwise function of floats; integers become the default dtype, float16 is computed in float32."""
    try:
        return _floats_of(function, operands)
    except ValueError:
        broadcast_shape(*map(np.shape, operands))  # says which sizes differ, where that was it
        raise


def _floats_of(function: Function, operands: Sequence[Operand]) -> Array:
    if are_few_floats(operands):
        return np.asarray(silently(function, *operands))
    dtype = float_dtype(operands)
    if any(isinstance(x, np.ndarray) and has_no_data(x) for x in operands):
        return array_without_data(broadcast_shape(*map(np.shape, operands)), dtype)
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    arrays = [np.asarray(x).astype(inner, copy=False) for x in operands]
    with np.errstate(all="ignore"):
        result = in_chunks(function, arrays) if is_large(arrays) else np.asarray(function(*arrays))
        return np.asarray(result.astype(dtype, copy=False))


def are_few_floats(operands: Sequence[Operand]) -> bool:
    """Arrays of one of the two types that SciPy has loops for, with which there is nothing to do but to call it."""
    first = operands[0]
    dtype = first.dtype if type(first) is np.ndarray else None
    if dtype is not _SINGLE and dtype is not _DOUBLE:
        return False
    for x in operands:
        if type(x) is not np.ndarray or x.dtype is not dtype or x.size >= _LARGE or has_no_data(x):
            return False
    return True


def float_dtype(operands: Sequence[Operand]) -> np.dtype[Any]:
    """The dtype of the result: the operands' promoted dtype, or the default one for integers."""
    dtype = common_dtype(*operands)
    return get_default_dtype() if dtype.kind in "biu" else dtype


def is_large(arrays: Sequence[Array]) -> bool:
    return max(array.size for array in arrays) >= _LARGE


def in_chunks(function: Function, arrays: Sequence[Array]) -> Array:
    """The function over pieces of the longest dimension, on several threads: SciPy's loops release the GIL.

    Results are written to memory that has been used before, which costs no page faults.
    """
    whole = np.broadcast_arrays(*arrays)
    shape = whole[0].shape
    axis = int(np.argmax(shape))
    model = next((array for array in arrays if array.shape == shape), whole[0])
    out = empty_of(model, model.dtype) if model.flags.writeable else np.empty(shape, model.dtype)
    if get_num_threads() == 1:
        function(*arrays, out=out)
        return out
    step = max(1, _CHUNK * shape[axis] // out.size)

    def compute(i: int) -> None:
        piece = (slice(None),) * axis + (slice(i * step, (i + 1) * step),)
        with np.errstate(all="ignore"):
            function(*(array[piece] for array in whole), out=out[piece])

    call_each(compute, -(-shape[axis] // step))
    return out


def float_results_of(function: Function, count: int, *operands: Operand) -> tuple[Array, ...]:
    """The same for a function with several results."""
    dtype = float_dtype(operands)
    shape = broadcast_shape(*map(np.shape, operands))
    if any(isinstance(x, np.ndarray) and has_no_data(x) for x in operands):
        return tuple(array_without_data(shape, dtype) for _ in range(count))
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    with np.errstate(all="ignore"):
        results = function(*(np.asarray(x).astype(inner, copy=False) for x in operands))
    return tuple(np.asarray(result).astype(dtype, copy=False) for result in results)


# ---- functions that are more than one loop


def in_doubles(function: Function, *operands: Operand) -> Array:
    """Computed in float64 and rounded once, block by block, since such functions need memory for many nodes."""

    def derivative(*arrays: Array, out: Array | None = None) -> Array:
        wide = np.broadcast_arrays(*(np.asarray(array, np.float64) for array in arrays))
        flat = [array.reshape(-1) for array in wide]
        blocks = [slice(i, i + _BLOCK) for i in range(0, wide[0].size, _BLOCK)]
        found = [np.asarray(function(*(array[block] for array in flat))) for block in blocks]
        result = np.concatenate(found) if found else np.empty(0)
        return stored(result.reshape(wide[0].shape).astype(arrays[0].dtype), out)

    return floats_of(derivative, *operands)


def polygamma_of(digamma: Function, zeta: Function, n: int, x: Array) -> Array:
    """From Hurwitz's zeta function for positive numbers, by reflection for the rest."""

    def polygamma(x: Array) -> Array:
        if n == 0:
            return np.asarray(digamma(x))
        factor = (-1) ** (n + 1) * math.factorial(n)
        is_reflected = (x < 0) & (x != np.round(x))
        if not np.any(is_reflected):
            return np.asarray(factor * zeta(n + 1.0, x), x.dtype)
        positive = factor * zeta(n + 1.0, np.where(is_reflected, 1 - x, x))
        reflected = (-1) ** n * positive - cotangent_derivative(n, x)
        return np.asarray(np.where(is_reflected, reflected, positive).astype(x.dtype))

    return floats_of(lambda x, out=None: stored(polygamma(x), out), x)


def cotangent_derivative(n: int, x: Array) -> Array:
    """Derivative of order `n` of pi cot(pi x), a polynomial of degree n + 1 in the cotangent."""
    polynomial = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        polynomial = polynomial.deriv() * np.polynomial.Polynomial([-1.0, 0.0, -1.0])
    fraction = x - np.round(x)
    return np.asarray(np.pi ** (n + 1) * polynomial(1 / np.tan(np.pi * fraction)))


# Orders from which on a recurrence from order 0, of as many steps, is slower than what knows orders that are not whole.
_MOST_STEPS = 1000


def second_bessel_of(by_recurrence: Function, general: Function, v: Operand, x: Operand) -> Array:
    """SciPy's `yn` where all orders are whole numbers, `yv` otherwise: with real numbers `yn` would truncate them."""
    return floats_of(by_recurrence if are_few_whole_steps(v) else general, v, x)


def are_few_whole_steps(v: Operand) -> bool:
    if isinstance(v, np.ndarray) and has_no_data(v):
        return False
    orders = np.asarray(v)
    return bool(
        (np.abs(orders) <= _MOST_STEPS).all() and (orders.dtype.kind in "biu" or (orders == np.rint(orders)).all())
    )


def stored(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    out[...] = result
    return out


def beta_of(function: Function, a: Operand, b: Operand) -> Array:
    """NaN for negative numbers, since SciPy gives one-sided limits at their poles."""

    def beta(a: Array, b: Array, out: Array | None = None) -> Array:
        result = np.asarray(function(a, b, out=out))
        if (a < 0).any() or (b < 0).any():
            np.copyto(result, np.nan, where=(a < 0) | (b < 0))
        return result

    return floats_of(beta, a, b)


def lambertw_of(function: Function, z: Array, k: int) -> Array:
    """Computed in complex numbers of the precision of `z`."""
    dtype = np.result_type(float_dtype((z,)), np.complex64)
    if has_no_data(z):
        return array_without_data(z.shape, dtype)
    return np.asarray(function(z, k)).astype(dtype, copy=False)


def half_steps_of(x: Array, p: int) -> Array:
    """Each element less 0, 1/2, ..., (p - 1) / 2, along a new last dimension."""
    dtype = float_dtype((x,))
    if has_no_data(x):
        return array_without_data((*x.shape, p), dtype)
    return np.asarray(np.subtract(x.astype(dtype, copy=False)[..., None], (np.arange(p) / 2).astype(dtype)))


def times_log_of(logarithm: Function, x: Operand, y: Operand) -> Array:
    """``x * log(y)``, zero where `x` is, unless `y` is NaN."""

    def times_log(x: Array, y: Array, out: Array | None = None) -> Array:
        place = out if out is not None and out.shape == y.shape else None
        result = np.asarray(np.multiply(x, logarithm(y, out=place), out=out))
        if not x.all():
            np.copyto(result, 0, where=(x == 0) & ~np.isnan(y))
        return result

    return floats_of(times_log, x, y)


def log_gamma_of(gammaln: Function, x: Array) -> Array:
    return floats_of(lambda x, out=None: _log_gamma(gammaln, x, out), x)


def _log_gamma(gammaln: Function, x: Array, out: Array | None = None) -> Array:
    """Infinite at minus infinity, as in C and PyTorch, where SciPy's is minus infinity."""
    return np.asarray(gammaln(np.where(np.isneginf(x), np.inf, x).astype(x.dtype, copy=False), out=out))


def multigammaln_of(gammaln: Function, x: Array, p: int) -> Array:
    """Computed in float64, since a step towards a pole rounds the distance from it."""

    def multigammaln(x: Array, out: Array | None = None) -> Array:
        steps = x.astype(np.float64)[..., None] - np.arange(p) / 2
        total = np.sum(_log_gamma(gammaln, steps), axis=-1) + p * (p - 1) / 4 * math.log(math.pi)
        return stored(np.asarray(total).astype(x.dtype), out)

    return floats_of(multigammaln, x)


def spherical_of(function: Function, n: int, x: Array) -> Array:
    """A spherical Bessel function of integer order, in float64: its steps may leave the range of float32 alone."""
    return floats_of(lambda x, out=None: stored(np.asarray(function(n, np.asarray(x, np.float64)), x.dtype), out), x)
