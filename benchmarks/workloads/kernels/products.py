"""Products of matrices of float32, beside NumPy's BLAS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants.eager import eager, gradients_of
from ...contestants.functional import by_hand, jitted

SQUARES = (3, 16, 64, 128, 256, 512, 1024, 2048)


def factors(m: int, k: int, n: int, transposed: bool = False) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    shape = (n, k) if transposed else (k, n)
    return rng.normal(size=(m, k)).astype(np.float32), rng.normal(size=shape).astype(np.float32)


def product(m: int, k: int, n: int, transposed: bool = False) -> Builders:
    def call(a: Any, b: Any) -> Any:
        return a @ b.T if transposed else a @ b

    data = factors(m, k, n, transposed)
    found = eager(lambda lib, a, b: lambda: call(a, b), *data, requires_grad=False)
    return found | by_hand(call, *data) | jitted(lambda jax, jnp: call, *data)


def product_and_back(n: int) -> Builders:
    """A square product and both gradients of its sum."""

    def hand(a: Array, b: Array) -> Any:
        ones = np.ones((n, n), np.float32)
        return (a @ b).sum(), ones @ b.T, a.T @ ones

    data = factors(n, n, n)
    return gradients_of(lambda lib, a, b: (a @ b).sum(), *data) | by_hand(hand, *data)


def rows() -> Iterator[Case]:
    yield Case("matmul 32x784x256", product, (32, 784, 256), (4, 9, 5), must="torch 1.05")
    yield Case("matmul 32x784x256 transposed", product, (32, 784, 256, True), (4, 9, 5, True), must="torch 1.05")
    for n in SQUARES:
        must = "torch 1.05" if 128 <= n <= 1024 else ""
        threads = (1, 2) if n >= 1024 else (1,)
        yield Case(
            f"matmul {n}", product, (n, n, n), (5, 5, 5), must=must, rounds=7 if n >= 1024 else 15, threads=threads,
            series="matmul", size=n,
        )  # fmt: skip
    for n in (3, 16, 128, 512, 1024):
        yield Case(
            f"matmul {n} and gradients", product_and_back, (n,), (5,), rounds=7 if n >= 1024 else 15,
            series="matmul and gradients", size=n,
        )  # fmt: skip
