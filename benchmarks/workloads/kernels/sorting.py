"""Sorting, searching, gathering and scattering a million numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants.eager import eager
from ..data import numbers

MILLION = 10**6


def places(n: int) -> Array:
    return np.random.default_rng(1).integers(0, n, n)


# The call, and its arrays for n elements.
CALLS: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Array, ...]]]] = {
    "sort": (lambda lib, x: lib.sort(x), lambda n: (numbers(n),)),
    "argsort": (lambda lib, x: lib.argsort(x), lambda n: (numbers(n),)),
    "topk of 100": (lambda lib, x: lib.topk(x, 100), lambda n: (numbers(n),)),
    "unique": (lambda lib, x: lib.unique(x), lambda n: (places(n) // 100,)),
    "searchsorted": (
        lambda lib, edges, x: lib.searchsorted(edges, x), lambda n: (np.sort(numbers(n)[: n // 2]), numbers(n))
    ),
    "gather": (lambda lib, x, i: lib.gather(x, 0, i), lambda n: (numbers(n), places(n))),
    "take": (lambda lib, x, i: lib.take(x, i), lambda n: (numbers(n), places(n))),
    "index_add": (lambda lib, x, i: lib.index_add(x, 0, i, x), lambda n: (numbers(n), places(n))),
}  # fmt: skip


def forward(name: str, n: int) -> Builders:
    call, data = CALLS[name]
    return eager(lambda lib, *tensors: lambda: call(lib, *tensors), *data(n), requires_grad=False)


def rows() -> Iterator[Case]:
    for name in CALLS:
        yield Case(f"{name}, 1e6", forward, (name, MILLION), (name, 200), must="torch 1.0", rounds=7)
