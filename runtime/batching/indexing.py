"""Batching rules of the ops that take an index; see rules.pyx.

An index array that differs from slice to slice goes with one more array, which counts the slices: ``x[i]`` of slices is
``X[arange(n)[:, None], I]`` of the batch. Where NumPy puts the dimensions of the arrays first, the result of the batch
is permuted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.runtime.batching import geometries
from gradsmith.runtime.batching.batch import VmapLevel, all_slices, level_of
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches import upcalls

Op = Callable[..., Any]
Index = tuple[Any, ...]


def _basic_index(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    tensor, index = operands
    return op(all_slices(tensor, level), (slice(None), *_as_tuple(index)))


def _basic_index_backward(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    grad, shape, index = operands
    return op(all_slices(grad, level), (level.size, *shape), (slice(None), *_as_tuple(index)))


def _index(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    tensor, index = _without_numbers(*operands)
    if not any(map(_is_array, index)):  # numbers were all there was
        return all_slices(tensor, level)
    places = _Places(index, tensor.ndim, level)
    return places.from_batch(op(all_slices(tensor, level), places.index))


def _index_backward(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    grad, shape, index = operands
    places = _Places(_as_tuple(index), len(shape), level)
    return op(places.to_batch(all_slices(grad, level)), (level.size, *shape), places.index)


def _index_put(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    """Also in place: `op` then writes into the data of the first operand."""
    tensor, index, values, accumulate = operands
    places = _Places(_as_tuple(index), tensor.ndim, level)
    if isinstance(values, TensorBase):
        values = places.values(values)
    return op(all_slices(tensor, level), places.index, values, accumulate)


RULES: dict[str, Callable[[Op, tuple[Any, ...], VmapLevel, Any], Any]] = {
    **geometries.RULES,
    "basic_index": _basic_index,
    "basic_index_backward": _basic_index_backward,
    "index": _index,
    "index_backward": _index_backward,
    "index_put": _index_put,
    "index_put_": _index_put,
}


# ---- indices


def _as_tuple(index: Any) -> Index:
    return index if isinstance(index, tuple) else (index,)


def _as_array(part: Any) -> Any:
    """An array for the numbers of a list."""
    return np.asarray(part, None if len(part) else np.intp) if isinstance(part, (list, tuple)) else part


def _is_array(part: Any) -> bool:
    return isinstance(part, (TensorBase, np.ndarray))


def _is_number(part: Any) -> bool:
    """Is it an integer, or one for each slice?"""
    return isinstance(part, int) or (_is_array(part) and part.ndim == 0 and part.dtype.kind != "b")


def _without_numbers(tensor: Any, index: Any) -> tuple[Any, Index]:
    """Select by numbers first, as happens beside arrays. A single one may stay if it is an array."""
    parts = _expanded(_as_tuple(index), tensor.ndim)
    for kind in (int, (TensorBase, np.ndarray)):
        for dim in reversed(range(len(parts))):  # from the last one, so that the others keep their places
            others = sum(map(_is_array, parts)) - _is_array(parts[dim])
            if isinstance(parts[dim], kind) and _is_number(parts[dim]) and others:
                before = sum(map(_width, parts[:dim]))
                tensor = _selected(tensor, before, parts.pop(dim))
    return tensor, tuple(parts)


def _selected(tensor: Any, dim: int, number: Any) -> Any:
    whole = (slice(None),) * dim
    if isinstance(number, int):
        return upcalls.basic_index(tensor, (*whole, number, ...))
    return upcalls.index(tensor, (*whole, number))


def _expanded(index: Index, ndim: int) -> list[Any]:
    """Whole slices for Ellipsis."""
    index = tuple(map(_as_array, index))
    missing = ndim - sum(map(_width, index))
    parts: list[Any] = []
    for part in index:
        parts += [slice(None)] * missing if part is Ellipsis else [part]
    return parts


def _width(part: Any) -> int:
    """Number of the tensor's dimensions that a part takes up."""
    if _is_array(part) and part.dtype.kind == "b":
        return int(part.ndim)
    return 0 if part is None or part is Ellipsis else 1


class _Places:
    """An index of the batch, and where it puts the dimensions of its arrays."""

    def __init__(self, index: Index, ndim: int, level: VmapLevel) -> None:
        parts = [item for part in _expanded(index, ndim) for item in _unmasked(part, level)]
        arrays = [n for n, part in enumerate(parts) if _is_array(part)]
        self.level = level
        self.array_rank = max(parts[n].ndim for n in arrays)
        self.rank = self.array_rank + len(parts) - len(arrays) + ndim - sum(map(_width, parts))
        adjacent = arrays[-1] - arrays[0] + 1 == len(arrays)
        self.place = arrays[0] if adjacent else 0  # of the dimensions of the arrays, in the result for a slice
        if any(_differs(parts[n], level) for n in arrays):
            counts = np.arange(level.size).reshape(-1, *[1] * self.array_rank)
            self.index: Index = (counts, *(self._aligned(part) for part in parts))
            self.slices_at, self.arrays_at = 0, 1
        else:
            self.index = (slice(None), *parts)
            self.slices_at, self.arrays_at = (0, 1 + self.place) if adjacent else (self.array_rank, 0)

    def _aligned(self, part: Any) -> Any:
        if not _differs(part, self.level):
            return part
        data = all_slices(part, self.level)
        return upcalls.reshape(data, (self.level.size, *[1] * (self.array_rank - part.ndim), *part.shape))

    def _order(self) -> list[int]:
        """For each dimension of the wanted result, slices first, its place in the op's result."""
        arrays = [self.arrays_at + n for n in range(self.array_rank)]
        others = [n for n in range(self.rank + 1) if n != self.slices_at and n not in arrays]
        return [self.slices_at, *others[: self.place], *arrays, *others[self.place :]]

    def from_batch(self, result: Any) -> Any:
        order = self._order()
        return result if order == sorted(order) else upcalls.permute(result, tuple(order))

    def to_batch(self, value: Any) -> Any:
        order = self._order()
        return value if order == sorted(order) else upcalls.permute(value, tuple(map(int, np.argsort(order))))

    def values(self, values: Any) -> Any:
        """Values that have the shape of the places, or broadcast to it."""
        if values.ndim == 0 and level_of(values) is not self.level:
            return values
        data = all_slices(values, self.level)
        missing = self.rank - values.ndim
        return self.to_batch(upcalls.reshape(data, (self.level.size, *[1] * missing, *values.shape)))


def _differs(part: Any, level: VmapLevel) -> bool:
    return isinstance(part, TensorBase) and level_of(part) is level


def _unmasked(part: Any, level: VmapLevel) -> list[Any]:
    """Integers for a mask, which has to be the same for all slices."""
    if not _is_array(part) or part.dtype.kind != "b":
        return [part]
    if _differs(part, level):
        raise level.call.error(
            "a mask that differs from slice to slice is an index, and so selects as many elements as are true. Use an "
            "op whose result has one shape for all, such as where() or masked_fill()"
        )
    if part.ndim == 0:
        raise level.call.error("a mask without dimensions is an index; use where()")
    return list(np.nonzero(part.numpy(force=True) if isinstance(part, TensorBase) else part))
