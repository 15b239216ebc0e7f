"""Random numbers, ten million at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...cases import Builders, Case, Run
from ...contestants.eager import uncompared

MANY = 10**7
CALLS: dict[str, Callable[[Any, int], Any]] = {
    "rand": lambda lib, n: lib.rand(n),
    "rand, float64": lambda lib, n: lib.rand(n, dtype=lib.float64),
    "randn": lambda lib, n: lib.randn(n),
    "randn, float64": lambda lib, n: lib.randn(n, dtype=lib.float64),
    "randint": lambda lib, n: lib.randint(10, (n,)),
}


def drawn(name: str, n: int) -> Builders:
    def build(lib: Any) -> Run:
        return lambda: CALLS[name](lib, n)

    return uncompared(build)


def rows() -> Iterator[Case]:
    for name in CALLS:
        yield Case(f"{name}, 1e7", drawn, (name, MANY), (name, 10), must="torch 0.6", rounds=5)
