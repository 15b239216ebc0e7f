"""The constructor ``Tensor(...)``: PyTorch's old one, which programs still call.

Whole numbers are a size, one sequence is data, and a tensor gives a view of itself. Data takes the default dtype, which
is where `gradsmith.tensor` is better.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.device import CPU, as_device
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import empty
from gradsmith.runtime.tensors.factories.python_data import array_of_data, is_tensor

_FORMS = "Tensor(), Tensor(*size), Tensor(sequence) or Tensor(other), each with an optional device"


def construct(args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """A new tensor from the arguments of ``Tensor(...)``.

    Raises
    ------
    TypeError
        For arguments that are neither a size, nor data, nor a tensor.
    """
    args = _positional(args, dict(named))
    if len(args) == 1:
        return _of_one(args[0])
    return empty([_size(value, place) for place, value in enumerate(args, 1)] or [0], device=CPU)


def _positional(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    _check_device(named.pop("device", None))
    if not args and "size" in named:
        args = tuple(named.pop("size"))
    for name in ("data", "other"):
        if not args and name in named:
            args = (named.pop(name),)
    if named:
        raise TypeError(
            f"Tensor(): got an unexpected keyword argument '{next(iter(named))}'; expected {_FORMS}. "
            "gradsmith.tensor() takes dtype and requires_grad."
        )
    return args


def _check_device(device: Any) -> None:
    if device is not None and as_device(device, "Tensor") is not CPU:
        raise RuntimeError(
            f"Tensor(): legacy constructor expects device type: cpu but device type: {device} was passed; "
            "gradsmith.tensor() and gradsmith.empty() take any device"
        )


def _of_one(value: Any) -> Any:
    if is_tensor(value):
        return value.view(value.shape)
    if _is_whole(value):
        return empty([_size(value, 1)], device=CPU)
    if isinstance(value, str):
        raise TypeError(f"Tensor(): invalid data type 'str': {value!r} is not a number")
    if not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
        raise TypeError(f"Tensor(): data must be a sequence (got {type(value).__name__})")
    if isinstance(value, np.ndarray):
        return from_array(value.astype(get_default_dtype(), copy=False))
    return from_array(array_of_data(list(value), get_default_dtype(), "Tensor"))


def _is_whole(value: Any) -> bool:
    return not isinstance(value, (bool, np.bool_, np.ndarray)) and hasattr(value, "__index__")


def _size(value: Any, place: int) -> int:
    if not _is_whole(value):
        raise TypeError(
            f"Tensor(): argument {place} of a size must be an int, not {type(value).__name__}; expected {_FORMS}"
        )
    size = operator.index(value)
    if size < 0:
        raise RuntimeError(f"Tensor(): Trying to create tensor with negative dimension {size}")
    return size
