"""Numbers of elements between edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.counting.searches import searchsorted_of
from gradsmith.runtime.arrays.functions.frequency.bins import (
    counts_between,
    counts_in_bins,
    edges_between,
    extremes,
    has_bins,
)

Array: TypeAlias = NDArray[Any]


def histc_of(a: Array, bins: int, min: float, max: float) -> Array:
    if a.dtype.kind != "f":
        raise NotImplementedError(f'histc(): "histogram_cpu" not implemented for {a.dtype}; convert it with .float()')
    check_bins("histc", [bins])
    if max < min:
        raise RuntimeError(f"histc(): max must be larger than min, but they are {max} and {min}")
    if has_no_data(a):
        return array_without_data((bins,), a.dtype)
    elements = a.reshape(-1)
    low, high = bounds("histc", elements, (min, max) if min != max else None)
    if has_bins(elements):
        return counts_in_bins(elements, bins, low, high)
    within = elements[(elements >= low) & (elements <= high)]
    places = np.minimum(((within - low) * (bins / (high - low))).astype(np.int64), bins - 1)
    return np.bincount(places, minlength=bins).astype(a.dtype)


def bounds(op: str, elements: Array, given: Sequence[float] | None) -> tuple[float, float]:
    """The range of the bins: as given, or from the least to the greatest element."""
    low, high = _extremes(elements) if given is None else given
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{op}(): range of [{low}, {high}] is not finite")
    if low != high:
        return low, high
    return (low - 1, high + 1) if op == "histc" else (0.0, 1.0) if not elements.size else (low - 0.5, high + 0.5)


def _extremes(elements: Array) -> tuple[float, float]:
    if not elements.size:
        return 0.0, 0.0
    return extremes(elements) if has_bins(elements) else (float(elements.min()), float(elements.max()))


def check_bins(op: str, bins: Sequence[int]) -> None:
    for dim, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError(f"{op}(): bins must be > 0, but got {count} for dimension {dim}")


def histogram_of(
    a: Array, bins: int, range: Sequence[float] | None, weight: Array | None, density: bool
) -> tuple[Array, Array]:
    check_real("histogram", a, weight)
    check_bins("histogram", [bins])
    if has_no_data(a):
        return array_without_data((bins,), a.dtype), array_without_data((bins + 1,), a.dtype)
    edges = even_edges("histogram", a.reshape(-1), bins, range)
    return counted(a, edges, weight, density), edges


def histogram_between_of(a: Array, bins: Array, weight: Array | None, density: bool) -> tuple[Array, Array]:
    check_real("histogram", a, weight)
    if bins.ndim != 1 or bins.dtype != a.dtype:
        raise RuntimeError(
            f"histogram(): the edges must be a vector of the dtype of the input, {a.dtype}, but their size is "
            f"{list(bins.shape)} and their dtype {bins.dtype}"
        )
    check_bins("histogram", [len(bins) - 1])
    if has_no_data(a):
        return array_without_data((len(bins) - 1,), a.dtype), bins.copy()
    return counted(a, bins, weight, density), bins.copy()


def check_real(op: str, a: Array, weight: Array | None) -> None:
    if a.dtype.char not in "fd":
        raise NotImplementedError(f"{op}(): not implemented for {a.dtype}; convert it with .float()")
    if weight is not None and (weight.dtype != a.dtype or weight.size != a.size):
        raise RuntimeError(
            f"{op}(): weight must have the dtype of the input and one number for each of its elements, but is "
            f"{weight.dtype} of size {list(weight.shape)}, and the input is {a.dtype} of size {list(a.shape)}"
        )


def even_edges(op: str, elements: Array, bins: int, given: Sequence[float] | None) -> Array:
    if given is not None and (len(given) != 2 or given[0] > given[1]):
        raise RuntimeError(f"{op}(): range must be two numbers, the first not above the second, but got {list(given)}")
    low, high = bounds(op, elements, given)
    step = (high - low) / bins
    if step == 0:  # too small for a number of its own
        return np.linspace(low, high, bins + 1, dtype=elements.dtype)
    return edges_between(elements, bins, low, high)


def counted(a: Array, edges: Array, weight: Array | None, density: bool) -> Array:
    """Counts of elements; the last bin contains its upper edge."""
    elements = a.reshape(-1)
    if weight is None and not density and (counts := counts_between(elements, edges)) is not None:
        return counts
    weights = None if weight is None else weight.reshape(-1)
    places = searchsorted_of(edges, elements, False, True, None, None)
    counts = np.bincount(places, weights, len(edges) + 1)[1:-1]  # without what lies below the first edge
    at_the_end = elements == edges[-1]
    counts[-1] += np.count_nonzero(at_the_end) if weights is None else weights[at_the_end].sum(dtype=np.float64)
    return (densities(counts, [edges]) if density else counts).astype(a.dtype)


def densities(counts: Array, edges: Sequence[Array]) -> Array:
    """Shares of all that was counted, by the sizes of the bins; of no point at all NaN."""
    with np.errstate(all="ignore"):
        counts = counts / counts.sum()
        for axis, edge in enumerate(edges):
            counts /= np.expand_dims(np.diff(edge), [other for other in range(len(edges)) if other != axis])
    return counts


def counted_rows(rows: Array, edges: Sequence[Array], weight: Array | None, density: bool) -> Array:
    """Counts of points given as rows of coordinates; the last bin contains its upper edge."""
    shape = tuple(len(edge) - 1 for edge in edges)
    within = np.ones(len(rows), bool)
    places = np.zeros(len(rows), np.int64)
    for column, edge in zip(rows.T, edges):
        within &= (column >= edge[0]) & (column <= edge[-1])
        found = searchsorted_of(edge, np.ascontiguousarray(column), False, True, None, None) - 1
        places = places * (len(edge) - 1) + np.minimum(found, len(edge) - 2)
    weights = None if weight is None else weight.reshape(-1)[within]
    counts = np.bincount(places[within], weights, int(np.prod(shape))).reshape(shape)
    return (densities(counts, edges) if density else counts).astype(rows.dtype)


def histogramdd_of(
    a: Array, bins: Sequence[int], limits: Sequence[float] | None, weight: Array | None, density: bool
) -> tuple[Array, Array]:
    """Counts of points, and the edges along each axis, one after the other."""
    rows = points("histogramdd", a, len(bins), weight)
    check_bins("histogramdd", bins)
    if limits is not None and len(limits) != 2 * len(bins):
        raise RuntimeError(
            f"histogramdd(): range must be two numbers for each of {len(bins)} coordinates, but got {len(limits)}"
        )
    if has_no_data(a):
        return array_without_data(tuple(bins), a.dtype), array_without_data((sum(bins) + len(bins),), a.dtype)
    pairs = [None if limits is None else limits[2 * i : 2 * i + 2] for i in range(len(bins))]
    edges = [
        even_edges("histogramdd", column, count, pair) for column, count, pair in zip(rows.T, bins, pairs, strict=True)
    ]
    return counted_rows(rows, edges, weight, density), np.concatenate(edges) if edges else np.zeros(0, a.dtype)


def histogramdd_between_of(a: Array, bins: Sequence[Array], weight: Array | None, density: bool) -> Array:
    """The counts between ascending edges."""
    rows = points("histogramdd", a, len(bins), weight)
    for edges in bins:
        if edges.ndim != 1 or edges.dtype != a.dtype:
            raise RuntimeError(
                f"histogramdd(): edges must be vectors of the dtype of the input, {a.dtype}, but the size of one is "
                f"{list(edges.shape)} and its dtype {edges.dtype}"
            )
    shape = tuple(len(edges) - 1 for edges in bins)
    check_bins("histogramdd", shape)
    return array_without_data(shape, a.dtype) if has_no_data(a) else counted_rows(rows, bins, weight, density)


def points(op: str, a: Array, count: int, weight: Array | None) -> Array:
    """The points as rows."""
    if a.ndim < 2:
        raise RuntimeError(f"{op}(): input tensor should have at least 2 dimensions, but has {a.ndim}")
    if a.shape[-1] != count:
        raise RuntimeError(f"{op}(): expected bins for each of {a.shape[-1]} coordinates, but got {count}")
    rows = a.reshape(-1, a.shape[-1])
    check_real(op, rows[:, :1], weight)
    return rows
