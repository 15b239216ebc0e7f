"""Minima by SciPy's BFGS: gradients from gradsmith, from SciPy's finite differences, and written out."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Program
from ...contestants import library


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def slope(x: Array) -> Array:
    step = x[1:] - x[:-1] ** 2
    found = np.zeros_like(x)
    found[:-1] = -400 * x[:-1] * step - 2 * (1 - x[:-1])
    found[1:] += 200 * step
    return found


def start(n: int) -> Array:
    return np.tile([-1.2, 1.0], n // 2 + 1)[:n]


def by_gradsmith(n: int) -> Program:
    minimize = library("gradsmith").optimize.minimize
    return _compared(partial(minimize, rosenbrock, start(n), method="BFGS"))


def by_scipy(n: int, jac: Any) -> Program:
    minimize = importlib.import_module(f"{library('scipy').__name__}.optimize").minimize
    return _compared(partial(minimize, rosenbrock, start(n), method="BFGS", jac=jac))


def _compared(run: Any) -> Program:
    """All end near the minimum, by steps that differ by rounding."""
    return Program(run, lambda: [np.asarray(run().x)])


def minima(n: int) -> Builders:
    return {
        "gradsmith": partial(by_gradsmith, n),
        "scipy": partial(by_scipy, n, None),
        "by hand": partial(by_scipy, n, slope),
    }


def rows() -> Iterator[Case]:
    for n in (4, 30):
        bar = "scipy 1/2" if n == 30 else ""
        yield Case(f"minimize Rosenbrock by BFGS, n = {n}", minima, (n,), (4,), bar, rounds=5, tolerance=1e-2)
