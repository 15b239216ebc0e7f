"""Types for annotations, by PyTorch's names: numbers, sizes, and what is a device, a dtype or a file."""

import os
from builtins import bool as _bool
from builtins import bytes as _bytes
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import IO, TypeAlias

from numpy import dtype as _dtype

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.device import device as _device
from gradsmith.runtime.arrays.memory_format import layout as _layout
from gradsmith.runtime.graph.size import Size

__all__ = [
    "BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "Size", "Tensor", "_Number",
    "_TensorOrOptionalTensors", "_TensorOrTensors", "_bool", "_bytes", "_complex", "_device", "_dtype", "_float",
    "_int", "_layout", "_size", "_str",
]  # fmt: skip

Number: TypeAlias = int | float | bool
_Number = (int, float, bool)  # for isinstance

IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
BoolLikeType: TypeAlias = bool

_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]

Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
