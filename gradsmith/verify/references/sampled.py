"""Definitions of ops on functions that are given by samples, for the references of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array


def grid_gradient(x: Array, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> list[Array]:
    axes = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    steps = spacing if isinstance(spacing, (list, tuple)) else [spacing] * len(axes)
    gradient: Any = np.gradient  # whose type tells dimensions apart
    found = gradient(x, *steps, axis=axes, edge_order=edge_order)
    return list(found) if len(axes) > 1 else [found]


def cumulative_sum(x: Array, dim: int | None = None, include_initial: bool = False) -> Array:
    return accumulated(np.cumsum(x, 0 if dim is None else dim), 0 if dim is None else dim, 0, include_initial)


def cumulative_prod(x: Array, dim: int | None = None, include_initial: bool = False) -> Array:
    return accumulated(np.cumprod(x, 0 if dim is None else dim), 0 if dim is None else dim, 1, include_initial)


def accumulated(found: Array, axis: int, first: int, include_initial: bool) -> Array:
    """With a first number in front, which NumPy's own functions have from version 2.1 on."""
    if not include_initial:
        return found
    width = [(int(d == axis % found.ndim), 0) for d in range(found.ndim)]
    return np.pad(found, width, constant_values=first)


DEFINITIONS = (cumulative_prod, cumulative_sum, grid_gradient)
