"""Derivatives of Bessel functions with respect to their order.

Schlaefli's integrals (DLMF 10.9.6, 10.9.7, 10.32.4, 10.32.9) are differentiated under the integral sign and evaluated
by Gauss's rule. The paths of J and I leave the real axis where their integrands have a saddle, so that nothing cancels
where the functions are small.

Integrands that oscillate too fast for the rule (arguments in the hundreds and more) or reach too far (tiny arguments)
give way to the polynomial through SciPy's values at Chebyshev points around the order. These lie about as far away as
the function changes by a constant factor: its logarithmic derivative is at most log(2 v / x) or so where it grows or
falls exponentially, and pi / 2 where it oscillates.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.functions.special.scipy_loops import Array, Function, Operand, in_doubles

KINDS = ("jv", "yv", "iv", "ive", "kv", "kve")

_DROP = 45.0  # an integrand ends where it has fallen by the exponential of this
_MOST_NODES = 512
_AT_A_TIME = 256
_POINTS = 25
_REACH = 3.0


def bessel_order_of(loops: tuple[Function, ...], kind: str, n: int, v: Operand, x: Operand) -> Array:
    """Derivative of order `n` in the order of the function `kind`, one of `KINDS`, of which `loops` are SciPy's."""
    function = dict(zip(KINDS, loops, strict=True))[kind]

    def derivative(v: Array, x: Array) -> Array:
        starts = range(0, v.size, _AT_A_TIME)
        parts = [_part(function, kind, n, v[i : i + _AT_A_TIME], x[i : i + _AT_A_TIME]) for i in starts]
        found = np.concatenate([*parts, np.empty(0)])
        if kind in ("jv", "iv", "ive"):
            found = np.where((x == 0) & (v >= 0), np.where(v > 0, 0.0, -np.inf if n % 2 else np.inf), found)
        return found

    return in_doubles(derivative, v, x)


def _part(function: Function, kind: str, n: int, v: Array, x: Array) -> Array:
    found = np.empty(v.shape)
    start, low, high, angle = _limits(kind, v, x)
    size = np.abs(v)
    turns = angle * (size + (np.maximum(x, size) if kind in ("jv", "yv") else size))
    nodes = 40 + np.maximum(2.5 * (high - low) * np.sqrt(np.hypot(v, x) + 1), turns / 3.5)
    is_easy = (nodes <= _MOST_NODES) & (x > 0)
    if np.any(is_easy):
        rule = _gauss(64 * int(np.ceil(np.max(nodes[is_easy]) / 64)))
        limits = tuple(limit[is_easy, None] for limit in (start, low, high, angle))
        found[is_easy] = _integral(kind, n, v[is_easy, None], x[is_easy, None], limits, rule)
    if not np.all(is_easy):
        found[~is_easy] = _interpolated(function, n, v[~is_easy], x[~is_easy])
    return found


def _limits(kind: str, v: Array, x: Array) -> tuple[Array, ...]:
    """Where the path starts, where the integral over real numbers starts and ends, and the one over angles ends."""
    size, start = np.abs(v), np.zeros_like(x)
    if kind in ("jv", "yv"):
        peak = np.arccosh(np.maximum(size / x, 1.0))
        bend = _DROP / np.maximum(x, size)
        reach = np.fmin(np.arcsinh(bend + np.cbrt(6 * bend)), _DROP / np.maximum(x - size, 0.0))
        reach = np.fmin(reach, np.sqrt(2 * _DROP / (x * np.sinh(peak))))
        curve = np.zeros_like(x)
        if kind == "jv":
            start, curve = np.where(v > 0, peak, 0.0), np.where(v > 0, x * np.sinh(peak), 0.0)
    else:
        peak, curve = np.arcsinh(size / x), np.hypot(x, v)
        reach = 2 * np.arcsinh(np.sqrt(_DROP / curve / 2))
        if kind in ("iv", "ive"):
            start = np.arcsinh(v / x)
    width = 1.1 * _DROP / np.maximum(x, size)
    low = np.where((peak > 3) | (kind not in ("jv", "yv")), peak - width - np.sqrt(2 * width), 0.0)
    low = np.maximum(low, start)
    angle = 2 * np.arcsin(np.sqrt(np.fmin(_DROP / curve / 2, 1.0)))
    return start, low, np.maximum(low, peak + reach), np.zeros_like(x) if kind in ("kv", "kve") else angle


def _integral(kind: str, n: int, v: Array, x: Array, limits: tuple[Array, ...], rule: tuple[Array, Array]) -> Array:
    """Along a vertical path from `start`, and from `low` to `high`; real and imaginary parts stand for both halves."""
    (start, low, high, angle), (part, weight) = limits, rule
    t, path = low + (high - low) * part, start + 1j * angle * part
    of_t, of_angle = (high - low)[:, 0] / np.pi, angle[:, 0] / np.pi
    turn = (-t - 1j * np.pi) ** n * np.exp(-1j * np.pi * (v - 2 * np.round(v / 2)))
    if kind in ("jv", "yv"):
        wave = ((-path) ** n * np.exp(x * np.sinh(path) - v * path)) @ weight * of_angle
        falling = np.exp(-v * t - x * np.sinh(t))
        if kind == "jv":
            return np.asarray(wave.real + (turn.imag * falling) @ weight * of_t)
        growing = np.exp(v * t - x * np.sinh(t))
        return np.asarray(wave.imag - (t**n * growing + turn.real * falling) @ weight * of_t)
    size, peak = np.abs(v), np.arcsinh(np.abs(v) / x)
    most = 2 * x * np.sinh(peak / 2) ** 2 - size * peak  # the greatest exponent, but for x
    if kind in ("kv", "kve"):
        growing = np.exp(size * t - 2 * x * np.sinh(t / 2) ** 2 + most)
        both = -np.sign(v) * np.expm1(-2 * size * t) if n % 2 else 1 + np.exp(-2 * size * t)
        scale = np.exp(-most - (x if kind == "kv" else 0.0))[:, 0]
        return np.asarray((t**n * growing * both) @ weight * of_t * np.pi / 2 * scale)
    most = np.where(v < 0, np.maximum(most, -most - 2 * x), most)
    wave = (-path) ** n * np.exp(2 * x * np.sinh(path / 2) ** 2 - v * path - most)
    tail = turn.imag * np.exp(-2 * x * np.cosh(t / 2) ** 2 - v * t - most)
    found = wave.real @ weight * of_angle + tail @ weight * of_t
    return np.asarray(found * np.exp(most + (x if kind == "iv" else 0.0))[:, 0])


@functools.cache
def _gauss(count: int) -> tuple[Array, Array]:
    """Gauss's rule for the unit interval, by Newton's method in distances from its ends; `leggauss` loses digits."""
    y = 2 * np.sin(np.pi * (np.arange(count // 2) + 0.75) / (2 * count + 1)) ** 2
    for _ in range(6):
        value, step = 1 - y, -y  # of Legendre's polynomial, and from the one before
        for k in range(2, count + 1):
            step = ((k - 1) * step - (2 * k - 1) * y * value) / k
            value = value + step
        slope = count * (y * value - step) / (y * (2 - y))
        y = y + value / slope
    weights = 1 / (y * (2 - y) * slope**2)
    return np.concatenate([y / 2, 1 - y / 2]), np.concatenate([weights, weights])


def _interpolated(function: Function, n: int, v: Array, x: Array) -> Array:
    ratio = (np.abs(v) + 1) / np.where(x > 0, np.maximum(x, np.finfo(np.float64).tiny), np.nan)
    reach = _REACH / (np.arcsinh(ratio) + np.pi / 2)
    points, weights = _chebyshev(n)
    values = function(v[..., None] + reach[..., None] * points, x[..., None])
    return np.asarray(np.sum(values * weights, axis=-1) / reach**n)


@functools.cache
def _chebyshev(n: int) -> tuple[Array, Array]:
    """Chebyshev points, and the weights of the values there in the derivative at zero."""
    chebyshev: Any = np.polynomial.chebyshev
    points = np.cos(np.pi * np.arange(_POINTS) / (_POINTS - 1))
    units = np.eye(_POINTS)
    slopes = [chebyshev.chebval(0.0, chebyshev.chebder(unit, n)) for unit in units]
    return points, np.linalg.solve(chebyshev.chebvander(points, _POINTS - 1).T, np.array(slopes))
