"""Functions, rather than methods, that query tensors."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.tensors.python_data import is_tensor

__all__ = ["is_inference", "is_tensor", "numel"]


def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode, other than as a view of one that was not."""
    return bool(_required("is_inference", input).is_inference())


def numel(input: Any) -> int:
    """Number of elements of a tensor."""
    return int(_required("numel", input).numel())


def _required(function: str, value: Any) -> Any:
    if not is_tensor(value):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")
    return value
