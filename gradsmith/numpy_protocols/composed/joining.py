"""Putting tensors together, and taking them apart."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.numpy_protocols.composed.operands import as_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "append", "array_split", "block", "concatenate", "delete", "dsplit", "hsplit", "insert", "split", "unstack",
    "vsplit",
]  # fmt: skip


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    parts = list(gs.unbind(arrays) if is_tensor(arrays) else map(as_tensor, arrays))
    if dtype is not None:
        parts = [part.to(np.dtype(dtype)) for part in parts]
    if axis is None:
        return gs.cat([part.reshape(-1) for part in parts])
    for part in parts:
        if part.ndim != parts[0].ndim or not part.ndim:
            raise ValueError(
                "np.concatenate(): all operands must have the same number of dimensions, at least one, but have "
                f"{[part.ndim for part in parts]}"
            )
    return gs.cat(parts, axis)


def block(arrays: Any) -> Any:
    depth = _depth(arrays)
    rank = max(depth, _rank(arrays))
    return _blocks(arrays, 0, depth, rank)


def _depth(value: Any) -> int:
    if isinstance(value, tuple):
        raise TypeError("np.block() takes lists, but a tuple was found in it")
    return 1 + max((_depth(part) for part in value), default=0) if isinstance(value, list) else 0


def _rank(value: Any) -> int:
    return max((_rank(part) for part in value), default=0) if isinstance(value, list) else int(as_tensor(value).ndim)


def _blocks(value: Any, level: int, depth: int, rank: int) -> Any:
    """Lists of a level are joined along a dimension: as far from the last one as they are from the innermost lists."""
    if level == depth:
        tensor = as_tensor(value)
        return tensor.reshape((1,) * (rank - tensor.ndim) + tuple(tensor.shape))
    if not isinstance(value, list):
        raise ValueError("np.block(): the lists must all be nested as deeply")
    return gs.cat([_blocks(part, level + 1, depth, rank) for part in value], level - depth)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    first, second = as_tensor(arr), as_tensor(values)
    if axis is None:
        first, second, axis = first.reshape(-1), second.reshape(-1), 0
    return concatenate([first, second], axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    tensor, dim = _along(arr, axis)
    kept = np.delete(np.arange(tensor.shape[dim]), _places(obj))
    return gs.index_select(tensor, dim, as_tensor(kept))


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """NumPy says on places alone where everything goes; one gather then brings it there."""
    tensor, dim = _along(arr, axis)
    places, size = _places(obj), tensor.shape[dim]
    count = np.insert(np.arange(size), places, -1).size - size
    new = as_tensor(values).to(tensor.dtype)
    if np.ndim(places) == 0 and not isinstance(places, slice) and new.ndim:
        new, count = _of_one_place(new, tensor, dim)
        order = np.insert(np.arange(size), np.full(count, int(places)), size + np.arange(count))
    else:
        order = np.insert(np.arange(size), places, size + np.arange(count))
    sizes = tuple(count if other == dim else n for other, n in enumerate(tensor.shape))
    return gs.index_select(gs.cat([tensor, new.broadcast_to(sizes)], dim), dim, as_tensor(order))


def _of_one_place(new: Any, tensor: Any, dim: int) -> tuple[Any, int]:
    """Values for a single place: the dimension that is inserted along comes first in them."""
    missing = tensor.ndim - new.ndim
    moved = new.reshape((1,) * missing + tuple(new.shape)).movedim(0, dim)
    return moved, int(moved.shape[dim])


def _along(arr: Any, axis: int | None) -> tuple[Any, int]:
    tensor = as_tensor(arr)
    if axis is None:
        return tensor.reshape(-1), 0
    return tensor, int(np.lib.array_utils.normalize_axis_index(axis, tensor.ndim))


def _places(obj: Any) -> Any:
    return obj.detach().numpy() if is_tensor(obj) else obj


# ---- apart


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    tensor = as_tensor(ary)
    if isinstance(indices_or_sections, (int, np.integer)) and tensor.shape[axis] % int(indices_or_sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(tensor, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    tensor = as_tensor(ary)
    if isinstance(indices_or_sections, (int, np.integer)):
        return list(gs.tensor_split(tensor, int(indices_or_sections), axis))
    places = [int(place) for place in _places(indices_or_sections)]
    return list(gs.tensor_split(tensor, places, axis))


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    _require_dims("hsplit", ary, 1)
    return split(ary, indices_or_sections, 1 if as_tensor(ary).ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    _require_dims("vsplit", ary, 2)
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    _require_dims("dsplit", ary, 3)
    return split(ary, indices_or_sections, 2)


def _require_dims(name: str, ary: Any, count: int) -> None:
    if as_tensor(ary).ndim < count:
        raise ValueError(f"{name} only works on arrays of {count} or more dimensions")


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    return tuple(gs.unbind(as_tensor(x), axis))
