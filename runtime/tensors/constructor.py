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
from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories import quick_data
from gradsmith.runtime.tensors.factories.creation import empty
from gradsmith.runtime.tensors.factories.python_data import array_of_data, is_tensor

_FORMS = "{0}(), {0}(*size), {0}(sequence) or {0}(other), each with an optional device"


def construct(
    args: tuple[Any, ...], named: Mapping[str, Any], dtype: np.dtype[Any] | None = None, name: str = "Tensor"
) -> Any:
    """A new tensor from the arguments of ``Tensor(...)``, or of ``FloatTensor(...)`` and the like.

    Raises
    ------
    TypeError
        For arguments that are neither a size, nor data, nor a tensor.
    """
    return _Call(name, dtype).result(args, dict(named))


class _Call:
    """A call of a constructor; errors name it."""

    def __init__(self, name: str, dtype: np.dtype[Any] | None) -> None:
        self.name = name
        self.forms = _FORMS.format(name)
        self.asked = dtype
        self.dtype = get_default_dtype() if dtype is None else dtype

    def result(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        args = self._positional(args, named)
        if len(args) == 1:
            return self._of_one(args[0])
        size = [self._size(value, place) for place, value in enumerate(args, 1)] or [0]
        return empty(size, dtype=self.dtype, device=CPU)

    def _positional(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        self._check_device(named.pop("device", None))
        if not args and "size" in named:
            args = tuple(named.pop("size"))
        for name in ("data", "other"):
            if not args and name in named:
                args = (named.pop(name),)
        if named:
            raise TypeError(
                f"{self.name}(): got an unexpected keyword argument '{next(iter(named))}'; expected {self.forms}. "
                "gradsmith.tensor() takes dtype and requires_grad."
            )
        return args

    def _check_device(self, device: Any) -> None:
        if device is not None and as_device(device, self.name) is not CPU:
            raise RuntimeError(
                f"{self.name}(): legacy constructor expects device type: cpu but device type: {device} was passed; "
                "gradsmith.tensor() and gradsmith.empty() take any device"
            )

    def _of_one(self, value: Any) -> Any:
        if is_tensor(value):
            return self._of_tensor(value)
        if isinstance(value, Size):
            return empty(value, dtype=self.dtype, device=CPU)
        if (
            isinstance(value, (list, tuple))
            and (found := quick_data.of_data(value, self.dtype, CPU, False)) is not None
        ):
            return found
        if _is_whole(value):
            return empty([self._size(value, 1)], dtype=self.dtype, device=CPU)
        if isinstance(value, str):
            raise TypeError(f"{self.name}(): invalid data type 'str': {value!r} is not a number")
        if not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
            raise TypeError(f"{self.name}(): data must be a sequence (got {type(value).__name__})")
        if isinstance(value, np.ndarray):
            return from_array(value.astype(self.dtype, copy=False))
        return from_array(array_of_data(list(value), self.dtype, self.name))

    def _of_tensor(self, value: Any) -> Any:
        if self.asked is not None and value.dtype != self.asked:
            raise TypeError(
                f"{self.name}(): expected a tensor of dtype {self.asked.name}, but got one of {value.dtype.name}; "
                "convert it with to()"
            )
        return value.view(value.shape)

    def _size(self, value: Any, place: int) -> int:
        if not _is_whole(value):
            raise TypeError(
                f"{self.name}(): argument {place} of a size must be an int, not {type(value).__name__}; expected "
                f"{self.forms}"
            )
        size = operator.index(value)
        if size < 0:
            raise RuntimeError(f"{self.name}(): Trying to create tensor with negative dimension {size}")
        return size


def _is_whole(value: Any) -> bool:
    return not isinstance(value, (bool, np.bool_, np.ndarray)) and hasattr(value, "__index__")
