"""Functions that look for elements, take them at places, and find the different ones."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

import gradsmith as gs
from gradsmith.array_api.operands import Tensor, axes_of, axis_of, promoted, tensor_of

__all__ = [
    "argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted", "sort", "take", "take_along_axis",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


# ---- places


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Places of the first greatest elements along an axis; in the flattened tensor if it is None."""
    return _place(gs.argmax, tensor_of("argmax", x), axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Places of the first least elements along an axis; in the flattened tensor if it is None."""
    return _place(gs.argmin, tensor_of("argmin", x), axis, keepdims)


def _place(find: Any, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    if axis is not None:
        return find(x, axis, keepdims)  # type: ignore[no-any-return]
    place: Tensor = find(x.reshape(-1), 0)
    return place.reshape((1,) * x.ndim) if keepdims else place


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Places of the elements that are not zero, for each axis one vector.

    Raises
    ------
    ValueError
        `x` has no axes.
    """
    if tensor_of("nonzero", x).ndim == 0:
        raise ValueError("nonzero(): the tensor has no axes; reshape it to (1,)")
    return tuple(gs.nonzero(x, as_tuple=True))


def count_nonzero(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero along axes, along all if `axis` is None."""
    axes = axes_of("count_nonzero", tensor_of("count_nonzero", x), axis)
    found = x.ne(0).to(gs.int64)
    return gs.sum(found, axes, keepdims) if axes else found


def searchsorted(
    x1: Tensor, x2: Any, /, *, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
) -> Tensor:
    """Places where the elements of `x2` may be put into the sorted vector `x1`, which stays sorted.

    Parameters
    ----------
    side : {"left", "right"}
        Before or behind equal elements.
    sorter : Tensor, optional
        Places of the elements of `x1` in their order, if it is not sorted.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted(): side must be 'left' or 'right', but got {side!r}")
    line, values = promoted("searchsorted", tensor_of("searchsorted", x1), x2)
    return gs.searchsorted(line if sorter is None else take(line, sorter), values, side=side)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Elements of `x1` where the condition holds, of `x2` elsewhere."""
    return gs.where(tensor_of("where", condition), *_chosen(condition, x1, x2))


def _chosen(condition: Tensor, x1: Any, x2: Any) -> tuple[Tensor, ...]:
    if isinstance(x1, Tensor) or isinstance(x2, Tensor):
        return promoted("where", x1, x2)
    numbers = [gs.tensor(number, device=condition.device) for number in (x1, x2)]
    return promoted("where", *numbers)


# ---- elements at places


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Elements at places along an axis, which may be left out for a vector. Negative places count from the end.

    Raises
    ------
    ValueError
        `axis` is None, and `x` has several.
    """
    if axis is None and tensor_of("take", x).ndim != 1:
        raise ValueError(f"take(): axis must be given for a tensor of {x.ndim} dimensions")
    at = axis_of("take", tensor_of("take", x).ndim, 0 if axis is None else axis)
    return x[(slice(None),) * at + (indices,)]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Elements at places along an axis that differ from vector to vector. Negative places count from the end."""
    at = axis_of("take_along_axis", tensor_of("take_along_axis", x).ndim, axis)
    places = indices.to(gs.int64)
    return gs.take_along_dim(x, gs.where(places < 0, places + x.shape[at], places), at)


# ---- order


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis."""
    return gs.sort(tensor_of("sort", x), axis, descending, stable=stable)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Places of the elements in their order along an axis; equal ones stay in theirs if it is `stable`."""
    return gs.argsort(tensor_of("argsort", x), axis, descending, stable=stable)


# ---- different elements


class UniqueAll(NamedTuple):
    """What `unique_all` finds."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` finds."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` finds."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The different elements, where each is first, which of them each element is, and how often it is there.

    NaN differs from NaN. Gradients flow from the values to the elements that were first.
    """
    _, indices, inverse, counts = np.unique(
        tensor_of("unique_all", x).numpy(force=True),
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
    )
    first = gs.tensor(indices)
    return UniqueAll(x.reshape(-1)[first], first, gs.tensor(inverse).reshape(x.shape), gs.tensor(counts))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The different elements, and how often each is there."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The different elements, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The different elements."""
    return unique_all(x).values
