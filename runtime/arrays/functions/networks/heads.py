"""Sizes of attention, and where the operands of each head begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sizes:
    """The heads in common, and for each of them the operands and the result."""

    heads: Shape
    query: Shape
    key: Shape
    value: Shape
    result: Shape


def sizes_of(query: Array, key: Array, value: Array, mask: Array | None, others: Sequence[Shape] = ()) -> Sizes:
    """Sizes that go together, of floating operands of one dtype; `others` are heads of further operands."""
    if not query.dtype == key.dtype == value.dtype or query.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "attention(): query, key and value are float32, or all float64, but they are "
            f"{query.dtype}, {key.dtype}, {value.dtype}"
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise _mismatch(query, key, value, mask)
    (queries, width), (keys, key_width), (value_keys, value_width) = query.shape[-2:], key.shape[-2:], value.shape[-2:]
    if key_width != width or value_keys != keys or not _is_mask(mask, queries, keys):
        raise _mismatch(query, key, value, mask)
    operands = (query, key, value) if mask is None else (query, key, value, mask)
    try:
        heads = np.broadcast_shapes(*[operand.shape[:-2] for operand in operands], *others)
    except ValueError:
        raise _mismatch(query, key, value, mask) from None
    return Sizes(
        heads, (*heads, queries, width), (*heads, keys, width), (*heads, keys, value_width),
        (*heads, queries, value_width),
    )  # fmt: skip


def _is_mask(mask: Array | None, queries: int, keys: int) -> bool:
    if mask is None:
        return True
    return mask.ndim >= 2 and mask.shape[-2:] == (queries, keys) and mask.dtype.kind in "bf"


def _mismatch(query: Array, key: Array, value: Array, mask: Array | None) -> RuntimeError:
    text = "" if mask is None else f", with a mask of size {list(mask.shape)} and {mask.dtype}"
    return RuntimeError(
        "attention(): expected queries (*, L, E), keys (*, S, E), values (*, S, V), a mask (*, L, S), but their sizes are "
        f"{list(query.shape)}, {list(key.shape)}, {list(value.shape)}{text}"
    )


def has_rows(a: Array) -> bool:
    """Do elements of rows lie side by side, and all else apart by whole elements?"""
    steps = a.strides
    side_by_side = a.shape[-1] <= 1 or steps[-1] == a.itemsize
    return bool(a.flags.aligned and side_by_side and not any(step % a.itemsize for step in steps))


def places_of(a: Array, heads: Shape) -> Array:
    """Where each head begins, in elements from the first of the array."""
    steps = [step // a.itemsize for step in a.strides[:-2]]
    places = np.zeros((), np.intp)
    for n, step in zip(a.shape[:-2], steps, strict=True):
        places = places[..., None] + np.arange(n, dtype=np.intp) * step
    return np.ascontiguousarray(np.broadcast_to(places, heads).reshape(-1))
