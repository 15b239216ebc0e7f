"""What loops and branches ask of their arguments."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.tensors.factories.python_data import is_tensor


def require_callable(op: str, name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{op}(): argument '{name}' must be callable, not {type(function).__name__}")


def is_true(op: str, what: str, value: Any) -> bool:
    """The truth value that decides how a program goes on."""
    if is_tensor(value):
        _require_one_truth(op, what, value)
    elif not isinstance(value, (bool, int, float)) and getattr(value, "shape", None) != ():
        raise TypeError(f"{op}(): {what} must be a bool or a tensor of one element, not {type(value).__name__}")
    return bool(value)


def _require_one_truth(op: str, what: str, tensor: Any) -> None:
    if tensor.numel() != 1:
        raise RuntimeError(f"{op}(): {what} must be one truth value, but has shape {list(tensor.shape)}")
