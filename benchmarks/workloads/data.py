"""The numbers that workloads are run on: the same in every run, and for every contestant."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cases import Array


def numbers(*shape: int, dtype: Any = np.float64) -> Array:
    """Between a half and three halves: where every function is smooth."""
    return np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(dtype)


def pair(*shape: int) -> tuple[Array, Array]:
    """Two arrays of float32 between a half and one."""
    rng = np.random.default_rng(0)
    return rng.uniform(0.5, 1.0, shape).astype(np.float32), rng.uniform(0.5, 1.0, shape).astype(np.float32)


def normal(*shape: int, seed: int = 0) -> Array:
    """Normal numbers of float32, scaled as the weights of a layer."""
    found = np.random.default_rng(seed).standard_normal(shape) / np.sqrt(shape[-1])
    return np.asarray(found, np.float32)


def images(*shape: int, seed: int = 3) -> Array:
    """Standard normal numbers of float32."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def labels(count: int, classes: int) -> Array:
    return np.random.default_rng(4).integers(0, classes, count)


def short(size: int) -> str:
    """A size as it stands in names of rows.

    >>> short(10), short(1000), short(10**6)
    ('10', '1000', '1e6')
    """
    text = str(size)
    is_power = text.rstrip("0") == "1"
    return f"1e{len(text) - 1}" if is_power and size >= 10_000 else text
