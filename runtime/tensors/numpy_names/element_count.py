"""The number of elements of a tensor, as NumPy's attribute `size` gives it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.graph.tensor_api import size_of


class ElementCount(int):
    """An int that is called for the shape, since `size` is a method in PyTorch: see size_method.h."""

    _shape: Size

    def __new__(cls, tensor: Any) -> ElementCount:
        count = super().__new__(cls, tensor.numel())
        count._shape = tensor.shape
        return count

    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: int) -> int: ...
    def __call__(self, dim: int | None = None) -> Size | int:
        """Shape of the tensor, or the size of one dimension."""
        return self._shape if dim is None else size_of(self._shape, dim)

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


class OverridableCount(ElementCount):
    """That of a tensor whose method `size` can be overridden."""

    _method: Callable[..., Any]

    def __new__(cls, tensor: Any, method: Callable[..., Any]) -> OverridableCount:
        count = int.__new__(cls, math.prod(TensorBase.shape.__get__(tensor)))
        count._method = method
        return count

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method(*args, **kwargs)
