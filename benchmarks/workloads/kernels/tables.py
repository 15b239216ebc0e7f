"""Rows of tables looked up by index, and the gradient of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ..data import numbers


def looked_up(rows: int, count: int, sparse: bool) -> Builders:
    """Rows of a table of 64 columns, and the gradient of their sum."""
    indices = np.random.default_rng(2).integers(0, rows, count)

    def build(lib: Any, table: Any) -> Run:
        wanted = lib.tensor(indices)

        def run() -> None:
            table.grad = None
            lib.nn.functional.embedding(wanted, table, sparse=sparse).sum().backward()

        return run

    return eager(build, numbers(rows, 64, dtype=np.float32))


def bags(mode: str, rows: int, count: int) -> Builders:
    """Bags of 20 rows, and the gradient of their sum."""
    indices = np.random.default_rng(2).integers(0, rows, (count, 20))

    def build(lib: Any, table: Any) -> Run:
        wanted = lib.tensor(indices)

        def run() -> None:
            table.grad = None
            lib.nn.functional.embedding_bag(wanted, table, mode=mode).sum().backward()

        return run

    return eager(build, numbers(rows, 64, dtype=np.float32))


def rows() -> Iterator[Case]:
    ways = {"4,096 of 50,000 x 64": False, "sparse": True}
    for name, sparse in ways.items():
        arguments, small = (50_000, 4096, sparse), (20, 8, sparse)
        yield Case(f"embedding there and back, {name}", looked_up, arguments, small, must="torch 1.0", rounds=7)
    for mode in ("sum", "mean", "max"):
        arguments_, small_ = (mode, 50_000, 1024), (mode, 30, 4)
        yield Case(f"embedding_bag there and back, {mode}", bags, arguments_, small_, must="torch 1.0", rounds=7)
