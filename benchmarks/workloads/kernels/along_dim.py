"""Reductions and scans of a million numbers, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ..data import numbers

MILLION = 10**6


def there_and_back(name: str, n: int, *arguments: int) -> Builders:
    """An op of n numbers, and the gradient of the sum of its result."""

    def build(lib: Any, x: Any) -> Run:
        def run() -> None:
            x.grad = None
            getattr(lib, name)(x, *arguments).sum().backward()

        return run

    return eager(build, numbers(n))


def rows() -> Iterator[Case]:
    ops = {"sum": (), "mean": (), "var": (), "amax": (), "cumsum": (0,), "cumprod": (0,)}
    for name, dims in ops.items():
        arguments, small = (name, MILLION, *dims), (name, 100, *dims)
        yield Case(f"{name} there and back, 1e6", there_and_back, arguments, small, must="torch 0.9", rounds=7)
