"""Arrays as NumPy writes them to files (.npy), checked before any memory is taken."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.lib import format as npy

from gradsmith.serialization.errors import CorruptFileError

MAGIC = b"\x93NUMPY"
DTYPES = frozenset((
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
))  # fmt: skip

_Array = np.ndarray[Any, Any]


def read_array(data: bytes, name: str) -> _Array:
    """The array, writable and in native byte order."""
    file = io.BytesIO(data)
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise CorruptFileError(f"load: {name} is of version {version} of NumPy's format, which is not known")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, in_columns, dtype = read_header(file)
    if dtype.name not in DTYPES or dtype.names is not None or dtype.subdtype is not None:
        raise CorruptFileError(f"load: {name} has dtype {dtype}, of which there are no tensors")
    values = data[file.tell() :]
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(values):
        raise CorruptFileError(f"load: {name} has {len(values)} bytes for an array of shape {shape} and dtype {dtype}")
    array: _Array = elements_of(values, dtype).reshape(shape, order="F" if in_columns else "C")
    return array


def elements_of(data: Any, dtype: np.dtype[Any]) -> Any:
    """A row of the elements that bytes hold, in native byte order and in memory of its own."""
    if dtype.kind == "b":  # bytes other than 0 and 1 would be truths that differ from each other
        return np.frombuffer(data, np.uint8) != 0
    # The loops know dtypes as the objects that NumPy has of them, and take an equal one for another dtype.
    return np.frombuffer(data, dtype).astype(np.dtype(dtype.name), copy=True)


def write_array(file: Any, array: _Array) -> None:
    npy.write_array(file, array, allow_pickle=False)
