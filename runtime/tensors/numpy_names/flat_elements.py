"""The elements of a tensor row by row, as NumPy's attribute `flat` gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class FlatElements:
    """Reads elements by one index, and writes them into the tensor however it lies in memory."""

    __slots__ = ("base",)

    def __init__(self, tensor: Any) -> None:
        self.base = tensor

    def __len__(self) -> int:
        return int(self.base.numel())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.reshape(-1))

    def __getitem__(self, index: Any) -> Any:
        return self.base.reshape(-1)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        places = np.arange(len(self))[index]
        self.base[np.unravel_index(places, tuple(self.base.shape))] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.base.reshape(-1).__array__(dtype, copy)

    def copy(self) -> Any:
        """A new tensor of the elements."""
        return self.base.reshape(-1).clone()
