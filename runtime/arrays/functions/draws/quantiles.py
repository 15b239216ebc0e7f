"""Samples as functions of the parameters of their distribution: quantiles, whose probability is kept.

Where a sample is used, the parameter is the one that it was drawn for, and it stays what it is. Elsewhere, as in proofs
by differences, SciPy finds the quantile.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.draws.gammas import rise
from gradsmith.runtime.arrays.functions.special.incomplete import bell, gamma_density_order_of, gammainc_order_of
from gradsmith.runtime.arrays.scipy_modules import SciPy

Array = np.ndarray[Any, Any]


def gamma_rise_of(n: int, a: Array, logarithm: Array) -> Array:
    """Derivative of order `n` of the gamma distribution in its parameter, divided by x times the density.

    Those above the second are quotients by way of SciPy. Where the density is less than any number they are
    those of the leading term x^a exp(-x) / Gamma(a + 1) if x is small beside a, and NaN otherwise.
    """
    if n <= 2:
        return rise(n, a, logarithm)
    special = SciPy("gamma_rise").special
    x = np.exp(logarithm)
    with np.errstate(all="ignore"):
        density = x * gamma_density_order_of(special.digamma, special.zeta, 0, a, x)
        found = gammainc_order_of(special.digamma, special.zeta, n, a, x) / density
        cumulants = [-special.digamma(a + 1.0)]
        cumulants += [(-1) ** k * math.factorial(k) * special.zeta(k + 1.0, a + 1.0) for k in range(1, n)]
        leading = np.where(x < 1e-3 * a, bell(n, cumulants, logarithm) / a, np.nan)
        return np.asarray(np.where(density > 0, found, leading).astype(found.dtype, copy=False))


def log_gamma_quantile_of(a: Array, drawn: Array, base: Array) -> Array:
    """The quantile of the gamma distribution with parameter `a` that `drawn` is of the one with `base`: logarithms."""
    dtype = np.result_type(a, drawn)
    if has_no_data(a) or has_no_data(drawn) or has_no_data(base):
        return array_without_data(np.broadcast_shapes(a.shape, drawn.shape, base.shape), dtype)
    if a.shape == drawn.shape and np.array_equal(a, base) and np.all(a > 0):
        return drawn.astype(dtype)
    with np.errstate(all="ignore"):
        moved = np.log(_gamma_quantile(*(array.astype(np.float64) for array in (a, np.exp(drawn), base))))
    outside = np.where(a == 0, -np.inf, np.nan)
    return np.where(a > 0, np.where(a == base, drawn, moved), outside).astype(dtype)


def _gamma_quantile(a: Array, drawn: Array, base: Array) -> Array:
    """By the smaller of both probabilities, which has more digits."""
    special = SciPy("log_gamma_quantile").special
    lower, upper = special.gammainc(base, drawn), special.gammaincc(base, drawn)
    found: Array = np.where(lower < 0.5, special.gammaincinv(a, lower), special.gammainccinv(a, upper))
    return found
