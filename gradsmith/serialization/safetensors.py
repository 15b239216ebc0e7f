"""The format safetensors: a header in JSON, and the elements of all tensors one after the other.

Source: the description of the format at https://huggingface.co/docs/safetensors. It needs no library: eight bytes with
the length of the header, the header, and the elements, whose places the header names and which leave no gaps.
"""

from __future__ import annotations

import json
import math
from typing import IO, Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import over_array
from gradsmith.serialization.arrays import elements_of
from gradsmith.serialization.errors import CorruptFileError
from gradsmith.serialization.tree import Decoder, Encoder, finished

TREE = "gradsmith.tree"  # in the metadata, of what is no plain dict of tensors
LONGEST_HEADER = 100_000_000  # bytes, as in other readers
DTYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8",
    "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8", "C64": "<c8",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

_Array = np.ndarray[Any, Any]


def write(value: Any, file: IO[bytes]) -> None:
    """Write a tree; raises before anything has been written when a part of it cannot be saved."""
    arrays, metadata = _parts(value)
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": _name_of(name, array), "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for _, array in ordered:
        file.write(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())


def _parts(value: Any) -> tuple[dict[str, _Array], dict[str, str]]:
    """Arrays by name, and the tree where they are not simply a dict of tensors."""
    encoder = Encoder()
    tree = encoder.encode(value, joins_parts=False)  # other readers find each tensor by its name
    plain = {"dict": [[name, {"tensor": name}] for name in encoder.arrays]}
    if type(value) is dict and tree == plain and "__metadata__" not in encoder.arrays:
        return encoder.arrays, {}
    return encoder.arrays, {TREE: json.dumps(tree, allow_nan=False)}


def _name_of(name: str, array: _Array) -> str:
    found = NAMES.get(array.dtype.newbyteorder("<"))
    if found is None:
        raise TypeError(f"save: {name} has dtype {array.dtype}, which safetensors does not have; choose another format")
    return found


def read(data: bytes, device: Any) -> Any:
    """A dict of tensors, or the tree that was saved."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(LONGEST_HEADER, len(data) - 8):
        raise CorruptFileError(f"load: the header of {length} bytes is longer than the file or than it may be")
    header = json.loads(data[8 : 8 + length].decode("utf-8"))
    metadata = header.pop("__metadata__", {})
    elements = memoryview(data)[8 + length :]
    _check_places(header, len(elements))
    arrays = {name: _array(name, entry, elements) for name, entry in header.items()}
    if TREE in metadata:
        return Decoder(arrays.__getitem__, device).decode(json.loads(metadata[TREE]))
    found: dict[str, Tensor] = {}
    for name, array in arrays.items():
        found[name] = finished(over_array(array), device, False, False)
    return found


def _check_places(header: dict[str, Any], size: int) -> None:
    """Elements of tensors follow each other without gaps and overlaps."""
    end = 0
    for begin, after in sorted(tuple(entry["data_offsets"]) for entry in header.values()):
        if begin != end or after < begin:
            raise CorruptFileError(f"load: the elements of a tensor begin at byte {begin}, not at {end}")
        end = after
    if end != size:
        raise CorruptFileError(f"load: the tensors have {end} bytes, but the file has {size} for them")


def _array(name: str, entry: dict[str, Any], elements: memoryview) -> Any:
    begin, end = entry["data_offsets"]
    shape = [_size(size) for size in entry["shape"]]
    if entry["dtype"] == "BF16":
        return from_bfloat16(np.frombuffer(elements[begin:end], "<u2")).reshape(shape)
    if entry["dtype"] not in DTYPES:
        raise CorruptFileError(f"load: {name} has dtype {entry['dtype']}, of which there are no tensors")
    dtype = np.dtype(DTYPES[entry["dtype"]])
    if math.prod(shape) * dtype.itemsize != end - begin:
        raise CorruptFileError(f"load: {name} has {end - begin} bytes for shape {shape} and dtype {entry['dtype']}")
    return elements_of(elements[begin:end], dtype).reshape(shape)


def _size(size: Any) -> int:
    if type(size) is not int or size < 0:
        raise CorruptFileError(f"load: a tensor has a dimension of size {size!r}")
    return size


def from_bfloat16(halves: _Array) -> Any:
    """float32 numbers of which the upper halves are given: all numbers of bfloat16 are among them."""
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
