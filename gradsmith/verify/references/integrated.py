"""Definitions of derivatives with respect to parameters of special functions, by integrals."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array


def gauss(low: float, high: float, pieces: int) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(30)
    width = (high - low) / pieces
    starts = low + width * np.arange(pieces)[:, None]
    return (starts + width * (nodes + 1) / 2).ravel(), np.tile(width / 2 * weights, pieces)


def beta_density_derivative(n: int, m: int, a: Any, b: Any, x: Any) -> Array:
    """By Leibniz' rule, of the powers of x and 1 - x and of the beta function, at most once each."""
    special = import_module("scipy.special")

    a, b, x = (np.asarray(one, np.float64) for one in (a, b, x))
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


def betainc_order_sum(n: int, m: int, a: Any, b: Any, x: Any) -> Array:
    """The integral of the density's derivative from zero, in the fourth root of the part of the way."""
    a, b, x = (np.asarray(one, np.float64)[..., None] for one in np.broadcast_arrays(a, b, x))
    part, weight = gauss(0.0, 1.0, 8)
    place = x * part**4
    found = beta_density_derivative(n, m, a, b, place) * 4 * x * part**3
    return np.where((x[..., 0] == 0) | (x[..., 0] == 1), 0.0, np.sum(found * weight, -1))


DEFINITIONS = (beta_density_derivative, betainc_order_sum)
