"""Arrays and numbers of NumPy in checkpoints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.serialization.arrays import elements_of
from gradsmith.serialization.checkpoints.allowed import allow, whole
from gradsmith.serialization.checkpoints.machine import Intermediate
from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError

CODES = {f"{kind}{size}" for kind, sizes in (("i", "1248"), ("u", "1248"), ("f", "248")) for size in sizes}
CODES |= {"b1", "c8", "c16"}


class NumpyType(Intermediate):
    """``numpy.dtype(code)``, whose byte order is its state."""

    def __init__(self, code: Any, *_: Any) -> None:
        if type(code) is not str or code.lstrip("<>=|") not in CODES:
            raise UnsafeFileError(f"load: the checkpoint has an array of dtype {code!r}, which it may not have")
        self.dtype = np.dtype(code)

    def build(self, state: Any) -> Any:
        order = state[1] if type(state) is tuple and len(state) > 1 else None
        if order not in ("<", ">", "=", "|"):
            raise CorruptFileError("load: a dtype in the checkpoint has no byte order")
        self.dtype = self.dtype.newbyteorder(order)
        return self

    def value(self) -> Any:
        return self.dtype.newbyteorder("=")


class NumpyArray(Intermediate):
    """An array that has been begun, whose elements are its state."""

    def build(self, state: Any) -> Any:
        if type(state) is not tuple or len(state) != 5:
            raise CorruptFileError("load: an array in the checkpoint has no elements")
        _, shape, kind, in_columns, data = state
        return array_of(shape, kind, data, bool(in_columns))


def array_of(shape: Any, kind: Any, data: Any, in_columns: bool) -> np.ndarray[Any, Any]:
    if not isinstance(kind, NumpyType) or type(shape) is not tuple or type(data) not in (bytes, bytearray):
        raise CorruptFileError("load: an array in the checkpoint has no dtype or no elements")
    sizes, dtype = tuple(whole(size) for size in shape), kind.dtype
    if any(size < 0 for size in sizes) or math.prod(sizes) * dtype.itemsize != len(data):
        raise CorruptFileError(f"load: an array in the checkpoint has {len(data)} bytes for shape {sizes} and {dtype}")
    array: np.ndarray[Any, Any] = elements_of(data, dtype).reshape(sizes, order="F" if in_columns else "C")
    return array


def _reconstruct(kind: Any, shape: Any = (0,), code: Any = b"b") -> NumpyArray:
    return NumpyArray()


def _from_buffer(data: Any, kind: Any, shape: Any, order: Any) -> Any:
    return array_of(shape, kind, data, order == "F")


def _scalar(kind: Any, data: Any) -> Any:
    return array_of((), kind, data, False)[()]


def allow_numpy() -> None:
    allow("numpy.dtype", NumpyType)
    allow("numpy.ndarray", None, np.ndarray)
    for module in ("numpy.core.multiarray", "numpy._core.multiarray"):
        allow(f"{module}._reconstruct", _reconstruct)
        allow(f"{module}.scalar", _scalar)
    for module in ("numpy.core.numeric", "numpy._core.numeric"):
        allow(f"{module}._frombuffer", _from_buffer)


allow_numpy()
