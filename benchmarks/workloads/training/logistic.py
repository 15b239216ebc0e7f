"""A step of logistic regression: 1,000 points of 20 features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants import eager, functional
from ..data import normal

SHAPE = (1000, 20)


def objective(lib: Any, w: Any, b: Any, x: Any, y: Any) -> Any:
    """The mean logistic loss of signs y."""
    return lib.nn.functional.softplus(-y * (x @ w + b)).mean()


def in_numpy(np: Any, w: Any, b: Any, x: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0, -y * (x @ w + b)))


def by_hand(w: Array, b: Array, x: Array, y: Array) -> Any:
    margin = y * (x @ w + b)
    value = np.logaddexp(0, -margin).mean()
    grad = -y / (1 + np.exp(margin)) / len(y)
    return value, x.T @ grad, grad.sum()


def gradients(points: int, features: int) -> Builders:
    x = normal(points, features, seed=1).astype(np.float64)
    y = np.sign(np.random.default_rng(2).standard_normal(points))
    w, b = normal(features).astype(np.float64), np.zeros(())
    found = eager.gradients_of(objective, w, b, constants=(x, y))
    found |= functional.gradients_of(in_numpy, w, b, constants=(x, y))
    return found | functional.by_hand(by_hand, w, b, x, y)


def rows() -> Iterator[Case]:
    yield Case(
        "logistic regression, 1,000 x 20", gradients, SHAPE, (10, 3), "torch 0.18", "torch 0.13", tolerance=1e-9
    )  # fmt: skip
