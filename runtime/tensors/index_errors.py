"""What is wrong with an index, in PyTorch's words, for the errors that NumPy raises."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradsmith.runtime.graph.tensor import TensorBase

MASK_KINDS = frozenset("?B")  # `dtype.char` of bool and uint8, which is compared faster than a dtype


def explained(error: IndexError, shape: tuple[int, ...], index: tuple[Any, ...]) -> IndexError:
    """The error for an index that a tensor of this shape does not take; `error` where there is no more to say."""
    text = str(error)
    if "too many indices" in text:
        return IndexError(_of_too_many(shape, index))
    if "boolean index did not match" in text or "the shape of the mask" in text:
        return IndexError(_of_masks(shape, index) or text)
    if "is out of bounds for axis" in text:
        return IndexError(text.replace("for axis", "for dimension"))
    if "indexing arrays could not be broadcast" in text:
        return IndexError(_of_arrays(text))
    return error


def width(part: Any) -> int:
    """How many dimensions of the tensor a part of an index takes up."""
    if is_array(part) and part.dtype.char in MASK_KINDS:
        return int(part.ndim)
    return 0 if part is None or part is Ellipsis else 1


def is_array(part: Any) -> bool:
    return isinstance(part, (TensorBase, np.ndarray))


def _of_too_many(shape: tuple[int, ...], index: tuple[Any, ...]) -> str:
    parts = [part for part in index if part is not None and part is not Ellipsis]
    if not shape and len(parts) == 1 and isinstance(parts[0], int):
        return (
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    if not shape and len(parts) == 1 and isinstance(parts[0], slice):
        return "slice() cannot be applied to a 0-dim tensor."
    used = sum(map(width, parts))
    return f"too many indices for tensor of dimension {len(shape)}: its shape is {list(shape)}, and {used} are indexed"


def _of_arrays(text: str) -> str:
    shapes = ", ".join(f"[{sizes}]" for sizes in re.findall(r"\(([\d,]*?),?\)", text))
    return f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"


def _of_masks(shape: tuple[int, ...], index: tuple[Any, ...]) -> str | None:
    """Where the first mask that does not fit differs from the tensor."""
    dim = 0
    for n, part in enumerate(index):
        if part is Ellipsis:
            dim = len(shape) - sum(map(width, index[n + 1 :]))
        elif is_array(part) and part.dtype.char in MASK_KINDS:
            at = next((at for at in range(part.ndim) if part.shape[at] != shape[dim + at]), None)
            if at is not None:
                return (
                    f"The shape of the mask {list(part.shape)} at index {at} does not match the shape of the indexed "
                    f"tensor {list(shape)} at index {dim + at}"
                )
        dim += width(part)
    return None
