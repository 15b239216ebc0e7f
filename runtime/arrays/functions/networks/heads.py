"""Sizes of attention, and where the operands of each head begin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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


def sizes_of(query: Array, key: Array, value: Array, mask: Array | None, others: tuple[Shape, ...] = ()) -> Sizes:
    """Sizes that go together, of floating operands of one dtype; `others` are heads of further operands."""
    if not query.dtype == key.dtype == value.dtype or query.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "attention(): query, key and value are float32, or all float64, but they are "
            f"{query.dtype}, {key.dtype}, {value.dtype}"
        )
    if mask is not None and mask.dtype.kind not in "bf":
        raise RuntimeError(f"attention(): a mask is of booleans or of floating numbers, but this one is {mask.dtype}")
    return sizes_for(query.shape, key.shape, value.shape, None if mask is None else mask.shape, others)


# The same few layers ask again and again.
@lru_cache(1024)
def sizes_for(query: Shape, key: Shape, value: Shape, mask: Shape | None, others: tuple[Shape, ...]) -> Sizes:
    """Sizes that go together."""
    if min(len(query), len(key), len(value)) < 2:
        raise _mismatch(query, key, value, mask)
    (queries, width), (keys, key_width), (value_keys, value_width) = query[-2:], key[-2:], value[-2:]
    pairs = (queries, keys) if mask is None else mask
    if key_width != width or value_keys != keys or pairs[-2:] != (queries, keys):
        raise _mismatch(query, key, value, mask)
    try:
        heads = np.broadcast_shapes(query[:-2], key[:-2], value[:-2], pairs[:-2], *others)
    except ValueError:
        raise _mismatch(query, key, value, mask) from None
    return Sizes(
        heads, (*heads, queries, width), (*heads, keys, width), (*heads, keys, value_width),
        (*heads, queries, value_width),
    )  # fmt: skip


def _mismatch(query: Shape, key: Shape, value: Shape, mask: Shape | None) -> RuntimeError:
    text = "" if mask is None else f", with a mask of size {list(mask)}"
    return RuntimeError(
        "attention(): expected queries (*, L, E), keys (*, S, E), values (*, S, V), a mask (*, L, S), but their sizes "
        f"are {list(query)}, {list(key)}, {list(value)}{text}"
    )


def has_rows(a: Array) -> bool:
    """Do elements of rows lie side by side, and all else apart by whole elements?"""
    if a.flags.c_contiguous:
        return bool(a.flags.aligned)
    steps = a.strides
    side_by_side = a.shape[-1] <= 1 or steps[-1] == a.itemsize
    return bool(a.flags.aligned and side_by_side and not any(step % a.itemsize for step in steps))


@lru_cache(256)
def places_for(shape: Shape, strides: Shape, itemsize: int, heads: Shape) -> Array:
    """Where each head of an array begins, in elements from its first one."""
    places = np.zeros((), np.intp)
    for n, step in zip(shape[:-2], strides[:-2], strict=True):
        places = places[..., None] + np.arange(n, dtype=np.intp) * (step // itemsize)
    return np.ascontiguousarray(np.broadcast_to(places, heads).reshape(-1))


@lru_cache(256)
def order_of_rows(shape: Shape, like: Shape, strides: Shape) -> tuple[Shape, Shape]:
    """The axes of a new array in the order in which those of another one lie in memory, and where each of them is then.

    Elements of rows are side by side in any case; where the other one broadcasts, the order is that of the axes.
    """
    last = len(shape) - 1
    axes = list(range(last))
    if len(like) == len(shape) and like[:-2] == shape[:-2] and 0 not in strides[:-1]:
        axes.sort(key=lambda axis: -abs(strides[axis]))
    axes.append(last)
    return tuple(axes), tuple(axes.index(axis) for axis in range(last + 1))
