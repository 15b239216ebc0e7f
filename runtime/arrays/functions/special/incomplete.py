"""Derivatives of the incomplete gamma function with respect to its parameter.

P(a, x) is the integral of the density p(u) = exp(a u - exp(u)) / Gamma(a) over u < log x. Differentiated with respect
to a, the density gets the factor u - digamma(a), of one sign below and of another above digamma(a); and as the integral
over all u is one, that of the derivative is zero. So the derivative of P is an integral of one sign, over u < log x or
over u > log x: nothing cancels, however small it is.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.functions.special.scipy_loops import Array, Function, Operand, in_doubles

_NEGLIGIBLE = 45.0  # exp(-45) is less than rounding


def gammainc_order_of(digamma: Function, zeta: Function, n: int, a: Operand, x: Operand) -> Array:
    """Derivative of order `n` of the regularized incomplete gamma function P(a, x) with respect to a."""
    return in_doubles(lambda a, x: _gammainc_order(digamma, zeta, n, a, x), a, x)


def gamma_density_order_of(digamma: Function, zeta: Function, n: int, a: Operand, x: Operand) -> Array:
    """The same for its derivative with respect to x, the density x^(a - 1) exp(-x) / Gamma(a)."""

    def derivative(a: Array, x: Array) -> Array:
        a = _no_negative(a)
        logarithm = np.log(x)
        center = np.log(a)
        density = np.exp(a * _drop(logarithm - center) + _level(a) - logarithm)
        found = density * bell(n, _cumulants(digamma, zeta, n, a), logarithm - center)
        at_zero = np.where(a > 1, 0.0, np.where(a < 1, np.inf, 1.0) if n == 0 else np.nan)
        found = np.where((x == 0) & (a > 0), at_zero, found)
        return np.where(((a == 0) & (x > 0) & (n == 0)) | ((x == np.inf) & (a >= 0)), 0.0, found)

    return in_doubles(derivative, a, x)


def _gammainc_order(digamma: Function, zeta: Function, n: int, a: Array, x: Array) -> Array:
    """Integrated in v = u - log a, near zero of which the density is concentrated."""
    a = np.where((a == 0) & (n > 1), np.nan, _no_negative(a))
    cumulants = _cumulants(digamma, zeta, n, a)
    end = np.log(x) - np.log(a)
    is_lower = end <= -cumulants[0]
    first = end - np.minimum(_NEGLIGIBLE / np.maximum(a - x, 1e-300), 1.3 * np.sqrt(90 / a) + _NEGLIGIBLE / a)
    beyond = np.maximum(a, x)
    width = np.minimum(np.sqrt(90 / beyond), np.log1p((_NEGLIGIBLE + 30 * a) / beyond))
    last = np.maximum(end, 0) + np.minimum(width, _NEGLIGIBLE / np.maximum(x - a, 1e-300))
    lower, upper = np.where(is_lower, first, end), np.where(is_lower, end, last)
    total = np.zeros_like(a)
    inner, level, slopes = a[..., None], _level(a)[..., None], [cumulant[..., None] for cumulant in cumulants]
    for place, weight in panels(lower, upper, (-40 - np.log(a), -6 - np.log(a), -1 - np.log(a), 1 - np.log(a), 0 * a)):
        total += np.sum(weight * np.exp(inner * _drop(place) + level) * bell(n, slopes, place), axis=-1)
    found = np.where(is_lower, total, -total)
    is_tiny = (a < 1e-6) & (x < 20)
    if n > 1 and np.any(is_tiny):  # where the integrand is the small difference of large numbers
        found[is_tiny] = _by_series(digamma, zeta, n, a[is_tiny], x[is_tiny])
    return np.where((x > 0) & np.isfinite(x), found, np.where((x == 0) | (x == np.inf), 0.0, np.nan))


def _by_series(digamma: Function, zeta: Function, n: int, a: Array, x: Array) -> Array:
    """Term by term from the sum of x^(a + k) exp(-x) / Gamma(a + k + 1)."""
    b = a[..., None] + np.arange(1.0, 81.0)
    logarithm = np.log(x)[..., None]
    cumulants = [logarithm - digamma(b)]
    cumulants += [(-1) ** i * math.factorial(i) * zeta(i + 1.0, b) for i in range(1, n)]
    log_gamma = (b - 0.5) * np.log(b) - b + 0.5 * math.log(2 * math.pi) + stirling(b)
    terms = np.exp((b - 1) * logarithm - x[..., None] - log_gamma) * bell(n, cumulants, np.zeros_like(b))
    return np.asarray(np.sum(terms, axis=-1))


def _no_negative(a: Array) -> Array:
    """NaN for negative parameters, for which SciPy's zeta function would add up a number of terms without bound."""
    return np.where(a < 0, np.nan, a)


def _level(a: Array) -> Array:
    """Logarithm of the density at u = log a; at log a + v it is `a` times `_drop(v)` more."""
    return np.asarray(0.5 * np.log(a / (2 * np.pi)) - stirling(a))


def _drop(v: Array) -> Array:
    return np.asarray(v - np.expm1(v))


def stirling(a: Array) -> Array:
    """log Gamma(a) minus its leading terms (a - 1/2) log a - a + log(2 pi) / 2: by recurrence above 12."""
    shift = np.zeros_like(a)
    b = a
    for _ in range(12):
        is_small = b < 12
        if not np.any(is_small):
            break
        step = np.where(is_small, (b + 0.5) * np.log1p(1 / b) - 1, 0.0)
        shift += step
        b = np.where(is_small, b + 1, b)
    square = 1 / (b * b)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    return shift + series / b


def _cumulants(digamma: Function, zeta: Function, n: int, a: Array) -> list[Array]:
    """Cumulants of the logarithm of the density as a function of a: log a - digamma(a), -trigamma(a), ..."""
    first = np.where(a > 1e3, (0.5 + (1 / 12 - 1 / (120 * a * a)) / a) / a, np.log(a) - digamma(a))
    return [first] + [(-1) ** k * math.factorial(k) * zeta(k + 1.0, a) for k in range(1, n)]


def bell(n: int, cumulants: list[Array], v: Array) -> Any:
    """The factor of exp(f) in its derivative of order `n`, from the derivatives of f: v + cumulants[0], ..."""
    slopes = [v + cumulants[0], *cumulants[1:]]
    found: list[Any] = [1.0]
    for order in range(1, n + 1):
        terms = (math.comb(order - 1, k) * slopes[k] * found[order - 1 - k] for k in range(order))
        found.append(sum(terms))
    return found[n]


def panels(lower: Array, upper: Array, breaks: tuple[Array, ...]) -> Any:
    """Gauss's rule between the bounds, cut at `breaks` and once more in each piece: places and weights, of which each
    piece has a last dimension."""
    nodes, weights = _gauss()
    cuts = [lower, *(np.clip(cut, lower, upper) for cut in sorted_breaks(breaks)), upper]
    for left, right in itertools.pairwise(cuts):
        half = (right - left) / 2
        if np.any(half):
            yield left[..., None] + half[..., None] * nodes, half[..., None] * weights


def sorted_breaks(breaks: tuple[Array, ...]) -> list[Array]:
    return list(np.sort(np.stack(np.broadcast_arrays(*breaks)), axis=0))


@functools.cache
def _gauss() -> tuple[Array, Array]:
    """Nodes and weights of both halves of an interval of length two."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    lower = (nodes + 1) / 2
    return np.concatenate([lower, lower + 1]), np.tile(weights / 2, 2)
