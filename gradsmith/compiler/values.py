"""What the values of a program look like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.tensor import from_array


class Values:
    """Dtypes and shapes of the values of a program."""

    def __init__(self, layouts: list[int], kinds: list[Any]) -> None:
        self._layouts, self._kinds = layouts, kinds

    def shape(self, slot: int) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._kinds[self._layouts[slot]][1]
        return shape

    def size(self, slot: int) -> int:
        return math.prod(self.shape(slot))

    def nbytes(self, slot: int) -> int:
        return self.size(slot) * int(self._kinds[self._layouts[slot]][0].itemsize)

    def zeros(self, slot: int) -> Tensor:
        dtype, shape, _ = self._kinds[self._layouts[slot]]
        return from_array(np.zeros(shape, dtype))

    def text(self, slot: int) -> str:
        dtype, shape, _ = self._kinds[self._layouts[slot]]
        return f"{dtype}{list(shape)}"
