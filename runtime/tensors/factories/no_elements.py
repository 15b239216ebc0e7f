"""What stands for a tensor of a dtype that NumPy lacks, where a program asks for the size of its elements only."""

from __future__ import annotations

import math
from typing import NoReturn

from gradsmith.runtime.arrays.dtypes import MissingDtype, refuse_missing


class NoElements:
    """No elements of a dtype that NumPy lacks: ``empty(0, dtype=gs.bfloat16)``.

    Programs make it for its `element_size`, before there is any number of that dtype. It is no tensor, and whatever
    else it is asked for is refused as such a tensor is.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: MissingDtype, shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.shape = shape

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return 0

    def element_size(self) -> int:
        return self.dtype.itemsize

    def numel(self) -> int:
        return 0

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"tensor([], size={self.shape}, dtype={self.dtype!r})"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse_missing(self.dtype, name)


def no_elements(dtype: MissingDtype, shape: tuple[int, ...], op: str) -> NoElements:
    """The stand-in for a tensor of this shape, if it has no elements; the error that no tensor has the dtype else."""
    return NoElements(dtype, shape) if math.prod(shape) == 0 else refuse_missing(dtype, op)
