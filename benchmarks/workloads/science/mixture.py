"""ADBench's Gaussian mixture model: the log likelihood of n points in d dimensions under k components.

Each component has a weight, a mean, and the factor of its inverse covariance: the logarithms of the diagonal, then what
stands below it, column by column. A Wishart prior is added. The mathematics are those of Srajer, Kukelova and
Fitzgibbon, *A benchmark of selected algorithmic differentiation tools on some problems in computer vision and machine
learning* (2018); the data are random, in the sizes published there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants import eager, functional

GAMMA, EXTRA = 1.0, 0  # of the prior
SIZES = {"d10 K25 1k": (10, 25, 1000), "d20 K50 1k": (20, 50, 1000), "d10 K25 10k": (10, 25, 10_000)}


def data(d: int, k: int, n: int) -> tuple[Array, ...]:
    """Weights, means, factors; and the points."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((k, d * (d + 1) // 2)) / np.sqrt(d)
    return rng.standard_normal(k), rng.uniform(size=(k, d)), factors, rng.standard_normal((n, d))


def below_diagonal(d: int) -> tuple[Array, Array]:
    """Rows and columns of what stands below the diagonal, column by column."""
    columns, rows = np.triu_indices(d, 1)
    return rows, columns


def places(d: int) -> Array:
    """For each element of a factor where its number stands in a packed row that begins with a zero."""
    found = np.zeros((d, d), np.int64)
    found[below_diagonal(d)] = np.arange(1, d * (d - 1) // 2 + 1)
    return found


def constant(d: int, k: int, n: int) -> float:
    """What depends on no parameter."""
    freedom = d + EXTRA + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma((freedom - j) / 2) for j in range(d))
    wishart = freedom * d * (math.log(GAMMA) - 0.5 * math.log(2)) - log_gamma
    return -n * d / 2 * math.log(2 * math.pi) - k * wishart


# ---- gradsmith and PyTorch


def likelihood(lib: Any, weights: Any, means: Any, factors: Any, points: Any) -> Any:
    n, d = points.shape
    k = len(weights)
    logarithms, below = factors[:, :d], factors[:, d:]
    packed = lib.cat([lib.zeros((k, 1), dtype=below.dtype), below], 1)
    root = lib.diag_embed(lib.exp(logarithms)) + packed[:, lib.tensor(places(d))]
    scaled = root @ (points.T - means[:, :, None])
    terms = (weights + logarithms.sum(1))[:, None] - 0.5 * (scaled * scaled).sum(1)
    normal = lib.logsumexp(terms, 0).sum() - n * lib.logsumexp(weights, 0)
    return normal + prior(lib.exp(logarithms), logarithms, below) + constant(d, k, n)


def prior(diagonal: Any, logarithms: Any, below: Any) -> Any:
    return 0.5 * GAMMA**2 * ((diagonal * diagonal).sum() + (below * below).sum()) - EXTRA * logarithms.sum()


# ---- JAX, HIPS autograd, and NumPy's value


def likelihood_of_arrays(np: Any, weights: Any, means: Any, factors: Any, points: Any) -> Any:
    n, d = points.shape
    k = len(weights)
    logarithms, below = factors[:, :d], factors[:, d:]
    packed = np.concatenate([np.zeros((k, 1)), below], 1)
    root = np.exp(logarithms)[:, :, None] * np.eye(d) + packed[:, places(d)]
    scaled = root @ (points.T - means[:, :, None])
    terms = (weights + np.sum(logarithms, 1))[:, None] - 0.5 * np.sum(scaled * scaled, 1)
    normal = np.sum(log_sum_exp(np, terms)) - n * log_sum_exp(np, weights)
    return normal + prior(np.exp(logarithms), logarithms, below) + constant(d, k, n)


def log_sum_exp(np: Any, a: Any) -> Any:
    largest = np.max(a, 0)
    return np.log(np.sum(np.exp(a - largest), 0)) + largest


# ---- NumPy by hand


def by_hand(weights: Array, means: Array, factors: Array, points: Array) -> Any:
    (n, d), k = points.shape, len(weights)
    logarithms, below = factors[:, :d], factors[:, d:]
    diagonal = np.exp(logarithms)
    root = np.concatenate([np.zeros((k, 1)), below], 1)[:, places(d)]
    root[:, range(d), range(d)] = diagonal
    centred = points.T - means[:, :, None]
    scaled = root @ centred
    terms = (weights + logarithms.sum(1))[:, None] - 0.5 * (scaled * scaled).sum(1)
    value = log_sum_exp(np, terms).sum() - n * log_sum_exp(np, weights)
    parts = np.exp(terms - log_sum_exp(np, terms))
    counts = parts.sum(1)
    grad_scaled = -parts[:, None, :] * scaled
    grad_root = grad_scaled @ centred.swapaxes(1, 2)
    grad_means = -(root.swapaxes(1, 2) @ grad_scaled.sum(2)[:, :, None])[:, :, 0]
    grad_logarithms = counts[:, None] + grad_root[:, range(d), range(d)] * diagonal + GAMMA**2 * diagonal**2 - EXTRA
    rows, columns = below_diagonal(d)
    grad_below = grad_root[:, rows, columns] + GAMMA**2 * below
    grad_weights = counts - n * np.exp(weights - log_sum_exp(np, weights))
    value += prior(diagonal, logarithms, below) + constant(d, k, n)
    return value, grad_weights, grad_means, np.concatenate([grad_logarithms, grad_below], 1)


def objective(*sizes: int) -> Builders:
    return eager.values_of(likelihood, *data(*sizes)) | functional.values_of(likelihood_of_arrays, *data(*sizes))


def gradient(*sizes: int) -> Builders:
    *parameters, points = data(*sizes)
    found = eager.gradients_of(likelihood, *parameters, constants=[points])
    found |= functional.gradients_of(likelihood_of_arrays, *parameters, constants=[points])
    return found | functional.by_hand(by_hand, *parameters, points)


def rows() -> Iterator[Case]:
    small = (3, 4, 6)
    for name, sizes in SIZES.items():
        more = partial(Case, tolerance=1e-8, rounds=7)
        yield more(f"GMM {name}, objective", objective, sizes, small)
        yield more(
            f"GMM {name}, gradient", gradient, sizes, small, "torch 0.4", "torch 0.25", threads=(1, 2),
            objective=f"GMM {name}, objective",
        )  # fmt: skip
