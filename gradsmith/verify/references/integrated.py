"""Definitions of derivatives with respect to parameters of special functions, by integrals."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array


def once_for_equals(definition: Callable[..., Array]) -> Callable[..., Array]:
    """An elementwise definition that costs too much to be evaluated for each of many equal elements.

    Its first two arguments are settings, the others numbers.
    """

    @functools.wraps(definition)
    def evaluated(first: Any, second: Any, *numbers: Any) -> Array:
        operands = np.broadcast_arrays(*(np.asarray(number, np.float64) for number in numbers))
        bits = np.stack([operand.ravel() for operand in operands], -1).view(np.int64)  # both zeros, and every NaN
        different, places = np.unique(bits, axis=0, return_inverse=True)
        found = definition(first, second, *different.view(np.float64).T)
        return found[places.ravel()].reshape(operands[0].shape)

    return evaluated


def gauss(low: float, high: float, pieces: int) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(30)
    width = (high - low) / pieces
    starts = low + width * np.arange(pieces)[:, None]
    return (starts + width * (nodes + 1) / 2).ravel(), np.tile(width / 2 * weights, pieces)


AT_A_TIME = 500  # elements, for each of which there are some thousand points


@once_for_equals
def bessel_order_integral(kind: str, n: int, v: Array, x: Array) -> Array:
    """Poisson's integrals (DLMF 10.9.4, 10.32.2, 10.32.8), differentiated under the integral sign.

    They hold for orders above -1/2; the recurrence over three neighbouring orders leads to those below zero.
    """
    starts = range(0, max(v.size, 1), AT_A_TIME)
    parts = [[one[start : start + AT_A_TIME, None] for one in (v, x)] for start in starts]
    with np.errstate(all="ignore"):
        return np.concatenate([_by_recurrence(kind, n, *part) for part in parts])


def _by_recurrence(kind: str, n: int, v: Array, x: Array) -> Array:
    steps = np.ceil(np.maximum(-v, 0.0))
    if not np.any(steps > 0):
        return _order_integral(kind, n, v, x)
    above, found = ([_order_integral(kind, k, v + steps + one, x) for k in range(n + 1)] for one in (1, 0))
    first, second = {"j": (1, -1), "y": (1, -1), "i": (1, 1), "k": (-1, 1)}[kind[0]]
    for step in range(int(np.max(steps, initial=0.0))):
        order, twice = (v + steps - step)[:, 0], 2 * first / x[:, 0]
        products = [order * found[k] + (k * found[k - 1] if k else 0.0) for k in range(n + 1)]
        below = [twice * product + second * one for product, one in zip(products, above)]
        is_above = step < steps[:, 0]
        above = [np.where(is_above, one, kept) for one, kept in zip(found, above)]
        found = [np.where(is_above, one, kept) for one, kept in zip(below, found)]
    return found[n]


def _order_integral(kind: str, n: int, v: Array, x: Array) -> Array:
    part, weight = gauss(0.0, 1.0, 40 if np.min(x, initial=1.0) > 1e-3 else 100)
    if kind in ("kv", "kve"):
        reach = np.log(100 / np.minimum(x, 1.0)) + 80
        t = reach * part - 80
        beyond = np.sqrt(np.pi) * reach * weight * np.exp(t - x * np.exp(t) - (x if kind == "kv" else 0.0))
        return _power_integral(n, v, x, beyond, t + np.log(np.exp(t) + 2))
    t = 40 * part
    inside, of_inside = np.tanh(t), -2 * np.log(np.cosh(t))
    factor = 80 / np.sqrt(np.pi) * np.exp(of_inside) * weight
    if kind == "jv":
        return _power_integral(n, v, x, factor * np.cos(x * inside), of_inside)
    if kind != "yv":
        wave = np.cosh(x * inside) * np.exp(-x if kind == "ive" else 0.0)
        return _power_integral(n, v, x, factor * wave, of_inside)
    reach = np.log(200 / np.minimum(x, 1.0))
    t = reach * part
    beyond = 2 / np.sqrt(np.pi) * reach * weight * np.cosh(t) * np.exp(-x * np.sinh(t))
    inner = _power_integral(n, v, x, factor * np.sin(x * inside), of_inside)
    return inner - _power_integral(n, v, x, beyond, 2 * np.log(np.cosh(t)))


def _power_integral(n: int, v: Array, x: Array, factor: Array, logarithm: Array) -> Array:
    """Of exp(f(v)) times what does not depend on v; its derivatives are polynomials in those of f."""
    special = import_module("scipy.special")

    first = logarithm + np.log(x / 2) - special.digamma(v + 0.5)
    second, third = (-special.polygamma(k, v + 0.5) for k in (1, 2))
    slope = {0: 1.0, 1: first, 2: first**2 + second, 3: first**3 + 3 * first * second + third}[n]
    exponent = (v - 0.5) * logarithm + v * np.log(x / 2) - special.gammaln(v + 0.5)
    return np.asarray(np.sum(slope * factor * np.exp(exponent), -1))


@once_for_equals
def beta_density_derivative(n: int, m: int, a: Array, b: Array, x: Array) -> Array:
    """By Leibniz' rule, of the powers of x and 1 - x and of the beta function, at most once each."""
    return _density_derivative(n, m, a, b, x)


def _density_derivative(n: int, m: int, a: Array, b: Array, x: Array) -> Array:
    special = import_module("scipy.special")

    with np.errstate(all="ignore"):
        density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))
        return np.asarray(density * log_density_factor(n, m, a, b, np.log(x), np.log1p(-x)))


def log_density_factor(n: int, m: int, a: Any, b: Any, log_x: Any, log_rest: Any) -> Any:
    """Of orders up to two in all."""
    special = import_module("scipy.special")

    total, curve = special.digamma(a + b), special.polygamma(1, a + b)
    in_a, in_b = log_x - special.digamma(a) + total, log_rest - special.digamma(b) + total
    return {
        (0, 0): 1.0, (1, 0): in_a, (0, 1): in_b, (1, 1): in_a * in_b + curve,
        (2, 0): in_a**2 - special.polygamma(1, a) + curve, (0, 2): in_b**2 - special.polygamma(1, b) + curve,
    }[n, m]  # fmt: skip


@once_for_equals
def betainc_order_sum(n: int, m: int, a: Array, b: Array, x: Array) -> Array:
    """The integral of the density's derivative from zero, in the fourth root of the part of the way."""
    a, b, x = (one[..., None] for one in (a, b, x))
    part, weight = gauss(0.0, 1.0, 8)
    place = x * part**4
    found = _density_derivative(n, m, a, b, place) * 4 * x * part**3
    return np.where((x[..., 0] == 0) | (x[..., 0] == 1), 0.0, np.sum(found * weight, -1))


DEFINITIONS = (bessel_order_integral, beta_density_derivative, betainc_order_sum)
