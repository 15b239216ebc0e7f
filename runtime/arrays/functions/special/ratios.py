"""Derivatives of quotients that vanish over vanishing numbers, as integrals of one sign: nothing cancels near zero."""

from __future__ import annotations

import functools
import math

import numpy as np

from gradsmith.runtime.arrays.functions.special.scipy_loops import Array, in_doubles

_NEGLIGIBLE = 60.0
_NODES = 48


@functools.cache
def gauss_between_0_and_1(count: int) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def exprel_order_of(n: int, x: Array) -> Array:
    """Derivative of order `n` of (exp(x) - 1) / x, the integral of s^n exp(x s) from zero to one."""

    def derivative(x: Array) -> Array:
        nodes, weights = gauss_between_0_and_1(_NODES)
        width = np.minimum(1.0, _NEGLIGIBLE / np.maximum(np.abs(x), 1e-300))[..., None]
        away = width * nodes  # from the end at which the exponential is greatest
        place = np.where(x[..., None] > 0, 1 - away, away)
        total = np.sum(width * weights * place**n * np.exp(-np.abs(x[..., None]) * away), axis=-1)
        return np.asarray(np.where(x == -np.inf, 0.0, total * np.exp(np.maximum(x, 0))))

    return in_doubles(derivative, x)


def log_ratio_order_of(n: int, x: Array) -> Array:
    """Derivative of order `n` of log(1 + x) / x, that is the integral of (1 - exp(-w))^n from zero to log(1 + x), times
    (-1)^n n! / x^(n + 1)."""

    def derivative(x: Array) -> Array:
        nodes, weights = gauss_between_0_and_1(_NODES)
        end = np.log1p(x)[..., None]
        total = np.zeros_like(x)
        steep = np.clip(end, -6.0, 6.0)
        with np.errstate(all="ignore"):
            for first, last in ((0 * end, steep), (steep, end)):
                width = last - first
                # A quotient of each factor by x, so that neither overflows nor vanishes.
                factors = -np.expm1(-(first + width * nodes)) / x[..., None]
                total += np.sum(width * weights * factors**n, axis=-1)
            found = (-1) ** n * math.factorial(n) * total / x
        found = np.where(x == 0, (-1) ** n * math.factorial(n) / (n + 1), found)
        return np.where(x < -1, np.nan, np.where(x == np.inf, 0.0, found))

    return in_doubles(derivative, x)
