"""Rosenbrock's function of 100 variables, and its gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants import eager, functional
from ..data import numbers


def rosenbrock(lib: Any, x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def by_hand(x: Array) -> Any:
    a, b = x[:-1], x[1:]
    step = b - a * a
    grad = np.zeros_like(x)
    grad[:-1] = -400 * a * step - 2 * (1 - a)
    grad[1:] += 200 * step
    return (100 * step * step + (1 - a) ** 2).sum(), grad


def gradient(n: int) -> Builders:
    x = numbers(n)
    found = eager.gradients_of(rosenbrock, x) | functional.gradients_of(rosenbrock, x)
    return found | functional.by_hand(by_hand, x)


def rows() -> Iterator[Case]:
    for n in (10, 100, 1000, 10_000):
        bars = ("torch 0.06", "torch 0.05") if n == 100 else ("", "")
        yield Case(
            f"Rosenbrock, gradient, n = {n}", gradient, (n,), (5,), *bars, tolerance=1e-9, series="gradient", size=n
        )  # fmt: skip
