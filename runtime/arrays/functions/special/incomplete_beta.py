"""Derivatives of the incomplete beta function with respect to its two parameters.

I(a, b, x) is the integral of the density p(u) = t^a (1 - t)^b / B(a, b) over u < log(x / (1 - x)), where t is the
logistic function of u. Differentiated with respect to a, the density gets the factor log(t) - digamma(a) +
digamma(a + b), which changes its sign once, and the integral over all u is zero, as in `incomplete`: so the derivative
is an integral of one sign over u below the bound or above it, and nothing cancels.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.functions.special.incomplete import sorted_breaks, stirling
from gradsmith.runtime.arrays.functions.special.ratios import gauss_between_0_and_1
from gradsmith.runtime.arrays.functions.special.scipy_loops import Array, Function, Operand, in_doubles

_NEGLIGIBLE = 45.0  # exp(-45) is less than rounding


def betainc_of(function: Function, a: Operand, b: Operand, x: Operand) -> Array:
    """SciPy's function in float64, as its loop for float32 loses digits at small parameters."""
    return in_doubles(function, a, b, x)


def betainc_order_of(digamma: Function, zeta: Function, n: int, m: int, a: Operand, b: Operand, x: Operand) -> Array:
    """Derivative of order `n` in a and `m` in b of the regularized incomplete beta function."""
    return in_doubles(lambda a, b, x: _betainc_order(digamma, zeta, n, m, a, b, x), a, b, x)


def beta_density_order_of(
    digamma: Function, zeta: Function, n: int, m: int, a: Operand, b: Operand, x: Operand
) -> Array:
    """The same for its derivative with respect to x, the density x^(a - 1) (1 - x)^(b - 1) / B(a, b)."""

    def derivative(a: Array, b: Array, x: Array) -> Array:
        is_flat = _is_flat(a, b, x, n, m)
        a, b = _positive(a, b)
        inside = np.where((x > 0) & (x < 1), x, 0.5)
        logs = np.log(inside), np.log1p(-inside)
        level = np.exp(_level(a, b) + _drop(a, b, logs[0] - logs[1]) - logs[0] - logs[1])
        found = level * _factor(_slopes(digamma, zeta, n, m, a, b), n, m, *logs)
        at_zero = _at_an_end(a, b, n, m)
        at_one = _at_an_end(b, a, m, n)
        found = np.where(x == 0, at_zero, np.where(x == 1, at_one, found))
        found = np.where((x < 0) | (x > 1) | np.isnan(a + b + x), np.nan, found)
        return np.where(is_flat, 0.0, found)

    return in_doubles(derivative, a, b, x)


def _at_an_end(near: Array, far: Array, order: int, other_order: int) -> Array:
    """The density at zero: near one it is far (1 - x)^(far - 1) there. At one, the parameters change places."""
    if order:
        return np.where(near > 1, 0.0, np.nan)
    of_far = far if other_order == 0 else float(other_order == 1)
    return np.where(near > 1, 0.0, np.where(near == 1, of_far, np.inf if other_order < 2 else np.nan))


def _betainc_order(digamma: Function, zeta: Function, n: int, m: int, a: Array, b: Array, x: Array) -> Array:
    """Integrated in u, on the side of the bound on which the first factor has one sign."""
    is_flat = _is_flat(a, b, x, n, m)
    a, b = _positive(a, b)
    inside = np.where((x > 0) & (x < 1), x, 0.5)
    end = np.log(inside) - np.log1p(-inside)
    slopes = _slopes(digamma, zeta, n, m, a, b)
    changes = _logit_of_log(-slopes[1, 0]) if n else -_logit_of_log(-slopes[0, 1])
    center = np.log(a) - np.log(b)
    is_lower = end <= changes
    start = np.where(is_lower, np.minimum(end, center), np.maximum(end, center))
    far = _where_negligible(a, b, start, np.where(is_lower, -1.0, 1.0))
    lower, upper = np.where(is_lower, far, end), np.where(is_lower, end, far)
    zero = np.zeros_like(a)
    places = [*(zero + u for u in (-40, -6, 0, 6, 40)), *(center + u for u in (-4, 0, 4)), start + (far - start) / 32]
    cuts = sorted_breaks(tuple(places))
    wide_a, wide_b, level = (array[..., None] for array in (a, b, _level(a, b)))
    wide = {orders: slope[..., None] for orders, slope in slopes.items()}
    total = np.zeros_like(a)
    steps, weights = gauss_between_0_and_1(36)
    bounds = [lower, *(np.clip(cut, lower, upper) for cut in cuts), upper]
    for left, right in itertools.pairwise(bounds):
        if not np.any(right > left):
            continue
        width = (right - left)[..., None]
        place, weight = left[..., None] + width * steps, width * weights
        factor = _factor(wide, n, m, _log_logistic(place), _log_logistic(-place))
        total += np.sum(weight * np.exp(level + _drop(wide_a, wide_b, place)) * factor, axis=-1)
    found = np.where(is_lower, total, -total)
    found = np.where((x == 0) | (x == 1), 0.0, found)
    found = np.where((x < 0) | (x > 1) | np.isnan(a + b + x), np.nan, found)
    return np.where(is_flat, 0.0, found)


def _is_flat(a: Array, b: Array, x: Array, n: int, m: int) -> Array:
    """Where one parameter is zero and stays it, the function is zero or one for all values of the other two."""
    alone = ((a == 0) & (b > 0) & (n == 0)) | ((b == 0) & (a > 0) & (m == 0))
    return np.asarray(alone & (x >= 0) & (x <= 1))


def _positive(a: Array, b: Array) -> tuple[Array, Array]:
    is_positive = (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf)
    return np.where(is_positive, a, np.nan), np.where(is_positive, b, np.nan)


def _log_logistic(u: Array) -> Array:
    """log(t), of which log(1 - t) is that of -u."""
    return np.asarray(np.minimum(u, 0) - np.log1p(np.exp(-np.abs(u))))


def _logit_of_log(logarithm: Array) -> Array:
    """log(t / (1 - t)) of log(t)."""
    return np.asarray(logarithm - np.log(-np.expm1(logarithm)))


def _level(a: Array, b: Array) -> Array:
    """Logarithm of the density in u at its maximum, log(a / b), by Stirling's series."""
    total = a + b
    leading = 0.5 * (np.log(a) + np.log(b) - np.log(total) - math.log(2 * math.pi))
    return np.asarray(leading + stirling(total) - stirling(a) - stirling(b))


def _drop(a: Array, b: Array, u: Array) -> Array:
    """How much more it is at u: by the smaller parameter, so that no difference of large numbers is small."""
    total, small = a + b, np.minimum(a, b)
    v = u - (np.log(a) - np.log(b))
    v = np.where(a < b, v, -v)
    bend = np.where(v < 30, np.log1p(small / total * np.expm1(v)), np.logaddexp(0, np.log(small) - np.log(total) + v))
    return np.asarray(small * v - total * bend)


def _where_negligible(a: Array, b: Array, start: Array, direction: Array) -> Array:
    """How far to go until the density, which falls from `start` on, is a rounding of what it was there."""
    wanted = _drop(a, b, start) - _NEGLIGIBLE - 3 * np.log1p(1 / a + 1 / b)
    near, step = np.zeros_like(start), 1e-6 * np.ones_like(start)
    for _ in range(1060):
        goes_on = _drop(a, b, start + direction * step) > wanted
        if not np.any(goes_on):
            break
        near, step = np.where(goes_on, step, near), np.where(goes_on, 2 * step, step)
    for _ in range(6):
        middle = (near + step) / 2
        goes_on = _drop(a, b, start + direction * middle) > wanted
        near, step = np.where(goes_on, middle, near), np.where(goes_on, step, middle)
    return np.asarray(start + direction * step)


Slopes = dict[tuple[int, int], Array]


def _slopes(digamma: Function, zeta: Function, n: int, m: int, a: Array, b: Array) -> Slopes:
    """Derivatives of the density's logarithm, of each pair of orders, without log(t) and log(1 - t) in the first."""
    found = {}
    for i, j in itertools.product(range(n + 1), range(m + 1)):
        if (i, j) in ((1, 0), (0, 1)):
            found[i, j] = _rise(digamma, zeta, *((a, b) if i else (b, a)))
        elif i + j:
            own = 0.0 if i and j else _polygamma(zeta, i + j - 1, a if i else b)
            found[i, j] = _polygamma(zeta, i + j - 1, a + b) - own
    if not n:
        found[1, 0] = _rise(digamma, zeta, a, b)
    return found


def _rise(digamma: Function, zeta: Function, a: Array, b: Array) -> Array:
    """digamma(a + b) - digamma(a), by the integral of its derivative where b is small beside a."""
    steps, weights = gauss_between_0_and_1(12)
    small = b * np.sum(weights * zeta(2.0, a[..., None] + b[..., None] * steps), axis=-1)
    return np.asarray(np.where(b < 0.3 * a, small, digamma(a + b) - digamma(a)))


def _polygamma(zeta: Function, order: int, a: Array) -> Array:
    return np.asarray((-1) ** (order + 1) * math.factorial(order) * zeta(order + 1.0, a))


def _factor(slopes: Slopes, n: int, m: int, log_t: Array, log_rest: Array) -> Any:
    """The factor of exp(f) in its derivative of order n in a and m in b, from the derivatives of f."""
    first = {(1, 0): log_t, (0, 1): log_rest}
    full = {orders: slope + first.get(orders, 0.0) for orders, slope in slopes.items()}
    found: dict[tuple[int, int], Any] = {(0, 0): 1.0}
    for i, j in itertools.product(range(n + 1), range(m + 1)):
        if i:  # one derivative in a of exp(f), and the rest of the product f_a exp(f)
            found[i, j] = sum(
                math.comb(i - 1, k) * math.comb(j, h) * full[k + 1, h] * found[i - 1 - k, j - h]
                for k, h in itertools.product(range(i), range(j + 1))
            )
        elif j:
            found[i, j] = sum(math.comb(j - 1, h) * full[0, h + 1] * found[0, j - 1 - h] for h in range(j))
    return found[n, m]
