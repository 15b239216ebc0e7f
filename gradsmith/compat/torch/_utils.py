"""Tensors as one vector, and back, and bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradsmith.generated.joining import cat
from gradsmith.generated.tensor import Tensor


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of all tensors one after another."""
    flat = [tensor.reshape(-1) for tensor in tensors]
    return flat[0] if len(flat) == 1 else cat(flat)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of a vector in the shapes of `tensors`."""
    parts = flat[: sum(tensor.numel() for tensor in tensors)].split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors))


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one dtype, of about `size_limit` bytes each."""
    waiting: defaultdict[object, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        group = waiting[tensor.dtype]
        if group and sum(map(_bytes, group)) + _bytes(tensor) > size_limit:
            yield group
            group = waiting[tensor.dtype] = []
        group.append(tensor)
    yield from waiting.values()


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _element_size(dtype: Any) -> int:
    """The bytes of an element."""
    return int(dtype.itemsize)
