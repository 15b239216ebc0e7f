"""Decompositions and solutions, of many small matrices and of one large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Program, Run, arrays_of
from ...contestants.eager import eager

NAMES = ("solve", "inv", "cholesky", "det", "slogdet", "lu_factor", "eigh", "svd")
BY_FACTORS = ("solve", "inv", "det", "slogdet", "lu_factor")  # by elimination, at sizes between small and large too
VALUES = {"eigh": 0, "svd": 1}  # which of the factors depend on no choice of sign


def matrices(n: int, batch: int) -> Array:
    """Positive definite matrices; the logarithms of their determinants are 1 on the average, so that none overflows."""
    shape = (batch, n, n) if batch else (n, n)
    random = np.random.default_rng(0).standard_normal(shape)
    definite = random @ random.swapaxes(-1, -2) + n * np.eye(n)
    return np.asarray(definite / np.exp((np.linalg.slogdet(definite)[1].mean() - 1) / n))


def forward(name: str, n: int, batch: int) -> Builders:
    a = matrices(n, batch)
    if name == "solve":
        return eager(lambda lib, a, b: lambda: lib.linalg.solve(a, b), a, a[..., :1].copy(), requires_grad=False)
    return eager(lambda lib, a: of_matrices(name, lib, a), a, requires_grad=False)


def of_matrices(name: str, lib: Any, a: Any) -> Program:
    function = getattr(lib.linalg, name)

    def results() -> list[Array]:
        return arrays_of(function(a)[VALUES[name]] if name in VALUES else function(a))

    return Program(lambda: function(a), results)


def there_and_back(name: str, n: int, batch: int) -> Builders:
    """A decomposition, and the gradient of the sum of its factors that depends on no choice of sign."""
    a = matrices(n, batch)
    return eager(build_solve, a, a[..., :1].copy()) if name == "solve" else eager(build_factors(name), a)


def build_factors(name: str) -> Any:
    def build(lib: Any, a: Any) -> Run:
        def run() -> None:
            a.grad = None
            found = getattr(lib.linalg, name)(a)
            factors = found if isinstance(found, tuple) else (found,)
            sum((factor * factor).sum() for factor in factors).backward()

        return run

    return build


def build_solve(lib: Any, a: Any, b: Any) -> Run:
    def run() -> None:
        a.grad = b.grad = None
        lib.linalg.solve(a, b).sum().backward()

    return run


def rows() -> Iterator[Case]:
    small = {"1000 of 4 x 4": (4, 1000, "torch 0.5")}
    between = {"16 x 16": (16, 0, "torch 1.0"), "100 x 100": (100, 0, "torch 1.0")}
    large = {"500 x 500": (500, 0, "torch 1.1")}
    ways = {"": forward, " there and back": there_and_back}
    for name in NAMES:
        sizes = small | between | large if name in BY_FACTORS else small | large
        for way, make in ways.items():
            for size, (n, batch, must) in sizes.items():
                yield case_of(name, way, make, size, n, batch, "torch 1.0" if name == "lu_factor" else must)


def case_of(name: str, way: str, make: Any, size: str, n: int, batch: int, must: str) -> Case:
    reduced = (name, 4, 3 if batch else 0)
    return Case(f"linalg {name}{way}, {size}", make, (name, n, batch), reduced, must=must, rounds=7)
