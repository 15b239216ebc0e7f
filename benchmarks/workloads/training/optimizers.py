"""Single steps of optimizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager

SMALL = ((10, 10), (10,), (16, 8), (16,), (8, 8), (8,), (4, 4), (4,), (32, 2), (2,))
LARGE = ((10**6,),)


def step(name: str, shapes: tuple[tuple[int, ...], ...], form: str) -> Builders:
    """One step; PyTorch's in the form that is named, "foreach" or "fused"."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]

    def build(lib: Any, *params: Any) -> Run:
        for p, array in zip(params, arrays):
            p.grad = lib.tensor(array)
        found: Run = getattr(lib.optim, name)(params, lr=1e-6, **{form: True}).step
        return found

    return eager(build, *arrays)


def rows() -> Iterator[Case]:
    yield Case("Adam, step over 10 small tensors", step, ("Adam", SMALL, "foreach"), must="torch 1/8", aim="torch 1/20")
    yield Case("SGD, step over 10 small tensors", step, ("SGD", SMALL, "foreach"), must="torch 1/8")
    few = ("Adam", ((10,),), "fused")
    yield Case("Adam, step over 1e6", step, ("Adam", LARGE, "fused"), few, must="torch 1", threads=(1, 2))
