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


def padded_by_numpy(
    x: Array,
    pad_width: Any,
    mode: Any = "constant",
    stat_length: Any = None,
    constant_values: Any = None,
    end_values: Any = None,
    reflect_type: Any = None,
) -> Array:
    given = {
        "stat_length": stat_length, "constant_values": constant_values, "end_values": end_values,
        "reflect_type": reflect_type,
    }  # fmt: skip
    more: Any = {name: value for name, value in given.items() if value is not None}
    return np.asarray(np.pad(x, pad_width, mode, **more))


def put_along_dim(x: Array, indices: Array, values: Any, dim: int | None = None) -> Array:
    found = x.astype(np.result_type(x, values))
    np.put_along_axis(found, np.asarray(indices), values, dim)
    return found


DEFINITIONS = (cumulative_prod, cumulative_sum, grid_gradient, padded_by_numpy, put_along_dim)
