"""Definitions of ops that reduce what is written to one place, for the references of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array


def mean(group: Any) -> Any:
    """That of integers is rounded down."""
    found = np.mean(group)
    return np.floor(found) if np.asarray(group).dtype.kind in "iu" else found


WAYS: dict[str, Any] = {"sum": np.sum, "prod": np.prod, "mean": mean, "amax": np.max, "amin": np.min}


def scatter_reduce(x: Array, dim: int, index: Any, src: Array, reduce: str, include_self: bool = True) -> Array:
    result: Array = x.copy()
    for place, group in groups_of(np.asarray(index), dim, src).items():
        result[place] = WAYS[reduce]([x[place], *group] if include_self else group)
    return result


def groups_of(index: Array, dim: int, src: Array) -> dict[Any, list[Any]]:
    """Place -> what is sent there."""
    groups: dict[Any, list[Any]] = {}
    for at in np.ndindex(index.shape):
        place = list(at)
        place[dim] = index[at]
        groups.setdefault(tuple(place), []).append(src[at])
    return groups


def index_reduce(x: Array, dim: int, index: Any, source: Array, reduce: str, include_self: bool = True) -> Array:
    shape = [1] * x.ndim
    shape[dim] = -1
    places = np.broadcast_to(np.reshape(index, shape), source.shape)
    return scatter_reduce(x, dim, places, source, reduce, include_self)


def grouped(x: Array, dim: int, index: Any, src: Array, reduce: str, include_self: bool, op: str) -> Array:
    if reduce != "mean" or include_self:
        return scatter_reduce(x, dim, index, src, reduce)
    result: Array = x.copy()
    for place, group in groups_of(np.asarray(index), dim, src).items():
        mean_of_all = sum([x[place], *group]) / len(group)
        result[place] = np.floor(mean_of_all) if x.dtype.kind in "iu" else mean_of_all
    return result


def group_sum(x: Array, dim: int, index: Any, src: Array, op: str) -> Array:
    return scatter_reduce(x, dim, index, src, "sum")


def group_prod(x: Array, dim: int, index: Any, src: Array, op: str) -> Array:
    return scatter_reduce(x, dim, index, src, "prod")


def group_extreme(x: Array, dim: int, index: Any, src: Array, reduce: str, op: str) -> Array:
    return scatter_reduce(x, dim, index, src, reduce)


def renorm(x: Array, p: float, dim: int, maxnorm: float) -> Array:
    others = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    greatest = np.max(np.abs(x), others, keepdims=True, initial=0)
    scale = np.where((greatest > 0) & np.isfinite(greatest), greatest, 1)  # so that powers do not leave the range
    norms = np.sum((np.abs(x) / scale) ** p, others, keepdims=True) ** (1 / p) * scale
    return x * np.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1)


def histogramdd_even(
    x: Array, bins: Any, limits: Any = None, weight: Any = None, density: bool = False
) -> tuple[Array, Array]:
    pairs = None if limits is None else [(limits[i], limits[i + 1]) for i in range(0, len(limits), 2)]
    counts, edges = np.histogramdd(x.reshape(-1, x.shape[-1]), bins, pairs, density, weight)
    return counts.astype(x.dtype), np.concatenate(edges).astype(x.dtype)


def histogramdd_between(x: Array, bins: Any, weight: Any = None, density: bool = False) -> Array:
    counts, _ = np.histogramdd(x.reshape(-1, x.shape[-1]), list(bins), None, density, weight)
    return counts.astype(x.dtype)


DEFINITIONS = (
    group_extreme, group_prod, group_sum, grouped, histogramdd_between, histogramdd_even, index_reduce, renorm,
    scatter_reduce,
)  # fmt: skip
