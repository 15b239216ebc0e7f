"""Reductions and scans of a million numbers, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ..data import numbers

MILLION = 10**6


def there_and_back(name: str, dtype: type, n: int, *arguments: int) -> Builders:
    """An op of n numbers, and the gradient of the sum of its result."""

    def build(lib: Any, x: Any) -> Run:
        def run() -> None:
            x.grad = None
            getattr(lib, name)(x, *arguments).sum().backward()

        return run

    return eager(build, numbers(n, dtype=dtype))


def rows() -> Iterator[Case]:
    ops = {"sum": (), "mean": (), "var": (), "amax": (), "cumsum": (0,), "cumprod": (0,)}
    for name, dims in ops.items():
        for dtype, suffix in ((np.float64, ""), (np.float32, ", float32")):
            yield Case(
                f"{name} there and back, 1e6{suffix}", there_and_back, (name, dtype, MILLION, *dims),
                (name, dtype, 100, *dims), must="torch 0.9", rounds=7, threads=(1, 2),
            )  # fmt: skip
