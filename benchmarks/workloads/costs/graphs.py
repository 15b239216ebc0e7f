"""Graphs of small ops in three shapes, up to a million nodes: recorded, walked backward, and freed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ..data import short

SIZES = (10**2, 10**4, 10**6)
WIDE = 1000  # nodes that one reads
Shape = Callable[[Any, Any, Any, int], Any]


def chain(lib: Any, x: Any, b: Any, nodes: int) -> Any:
    """Each node reads the one before."""
    for _ in range(nodes):
        x = x * b
    return x.sum()


def fan(lib: Any, x: Any, b: Any, nodes: int) -> Any:
    """All nodes read the same tensor, and one of each thousand reads them."""
    parts = [lib.stack([x * b for _ in range(min(WIDE, nodes - start))]).sum() for start in range(0, nodes, WIDE)]
    return lib.stack(parts).sum()


def tree(lib: Any, x: Any, b: Any, nodes: int) -> Any:
    """Pairs are added until one is left: half of the nodes are leaves of the tree."""
    level = [x * b for _ in range(nodes // 2)]
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [left + right for left, right in zip(level[::2], level[1::2])] + odd
    return level[0].sum()


SHAPES: dict[str, Shape] = {"chain": chain, "fan": fan, "tree": tree}


def recorded_and_walked(shape: str, nodes: int) -> Builders:
    def build(lib: Any, x: Any, b: Any) -> Run:
        def run() -> None:
            x.grad = b.grad = None
            SHAPES[shape](lib, x, b, nodes).backward()

        return run

    return eager(build, np.ones(1, np.float32), np.ones(1, np.float32))


def rows() -> Iterator[Case]:
    for shape in SHAPES:
        for nodes in SIZES:
            yield Case(
                f"{shape} of {short(nodes)} ops, per op", recorded_and_walked, (shape, nodes), (shape, 20),
                must="torch 1/10" if nodes == 10**6 else "", per=nodes, rounds=2 if nodes == 10**6 else 9, series=shape,
                size=nodes,
            )  # fmt: skip
