"""Arguments of ops as JSON.

What JSON has stands for itself, and a JSON list for a tuple. Everything else is an object with one key that says its
kind: ``{"value": 3}`` is the tensor of that number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.device import device as Device
from gradsmith.runtime.arrays.functions.view_geometry import Geometry, extent, is_inside
from gradsmith.runtime.arrays.strided import StridedGeometry
from gradsmith.runtime.programs.program import Slot
from gradsmith.serialization.arrays import DTYPES
from gradsmith.serialization.errors import CorruptFileError

DEEPEST = 20  # levels of tuples in tuples
LARGEST = 1 << 64
MOST_IN_TABLE = 1 << 16  # elements of a table of places
MOST_DIMS = 64
MOST_BYTES = 1 << 46  # of a tensor; more than any machine has


class NotStorable(Exception):
    """An argument that a file cannot hold."""


def encode(value: Any) -> Any:
    """The JSON of an argument.

    Raises
    ------
    NotStorable
        It is of another kind than those that files hold.
    """
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int and abs(value) < LARGEST:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is tuple:
        return [encode(item) for item in value]
    for kind, (cls, to_json, _) in _KINDS.items():
        if type(value) is cls or (cls is np.dtype and isinstance(value, cls)):
            return {kind: to_json(value)}
    raise NotStorable(f"an argument is a {type(value).__name__}")


def decode(node: Any, level: int = 0) -> Any:
    """The argument that JSON stands for.

    Raises
    ------
    CorruptFileError
        It is no JSON that `encode` gives.
    """
    if level > DEEPEST:
        raise CorruptFileError(f"load: an argument has more than {DEEPEST} levels")
    if isinstance(node, list):
        return tuple([decode(item, level + 1) for item in node])
    if not isinstance(node, dict):
        return _bounded(node) if type(node) is int else node
    if len(node) != 1:
        raise CorruptFileError(f"load: an argument is an object of {len(node)} keys, not of one")
    [(kind, content)] = node.items()
    if kind not in _KINDS:
        raise CorruptFileError(f"load: an argument is a {kind!r}, which is not known")
    return _KINDS[kind][2](content, level + 1)


def slots_in(operand: Any) -> list[int]:
    """Numbers of the values in an argument."""
    if isinstance(operand, Slot):
        return [operand.number]
    if isinstance(operand, (tuple, list)):
        return [number for item in operand for number in slots_in(item)]
    return []


def with_values(operand: Any, values: Any) -> Any:
    """An argument with tensors in the places of their numbers."""
    if isinstance(operand, Slot):
        return values[operand.number]
    if type(operand) in (tuple, list):
        return type(operand)([with_values(item, values) for item in operand])
    return operand


def expect(is_so: Any, what: str) -> None:
    """Refuse a file.

    Raises
    ------
    CorruptFileError
        Unless `is_so`.
    """
    if not is_so:
        raise CorruptFileError(f"load: {what}")


def integer(node: Any, what: str) -> int:
    """A number that counts something.

    Raises
    ------
    CorruptFileError
        It is negative, too large, or no integer at all.
    """
    expect(type(node) is int and 0 <= node < LARGEST >> 1, f"{what} is {str(node)[:40]}, which is not a count")
    found: int = node
    return found


def dtype_of(name: Any) -> np.dtype[Any]:
    """The dtype of that name, if there are tensors of it."""
    expect(isinstance(name, str) and name in DTYPES, f"there are no tensors of dtype {str(name)[:40]!r}")
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype


# ---- kinds of arguments


def _bounded(value: int) -> int:
    if abs(value) >= LARGEST:
        raise CorruptFileError("load: an integer has more than 64 bits")
    return value


def _items(node: Any, level: int) -> list[Any]:
    expect(isinstance(node, list), "what should be a list is none")
    return [decode(item, level) for item in node]


def _slice(node: Any, level: int) -> slice:
    parts = _items(node, level)
    expect(
        len(parts) == 3 and all(part is None or type(part) is int for part in parts), "a slice is not of three integers"
    )
    return slice(*parts)


def _float(node: Any, level: int) -> float:
    expect(node in ("inf", "-inf", "nan"), "a float that is no number is none of inf, -inf and nan")
    return float(node)


def _complex(node: Any, level: int) -> complex:
    parts = _items(node, level)
    expect(len(parts) == 2 and all(type(part) is float for part in parts), "a complex number is not of two floats")
    return complex(*parts)


def _table(node: Any, level: int) -> np.ndarray[Any, Any]:
    """Integers, in a row or in rows of one length."""
    rows = _items(node, level)
    expect(sum(len(row) if isinstance(row, tuple) else 1 for row in rows) <= MOST_IN_TABLE, "a table is too large")
    table = np.array(rows)
    expect(table.dtype == np.intp and table.ndim in (1, 2), "a table is not of integers in rows of one length")
    return table


def _rows(table: np.ndarray[Any, Any]) -> list[Any]:
    if table.ndim not in (1, 2) or table.dtype != np.intp or not 0 < table.size <= MOST_IN_TABLE:
        raise NotStorable(f"an argument is an array of shape {list(table.shape)} and dtype {table.dtype}")
    found: list[Any] = table.tolist()
    return found


def _places(node: Any, level: int) -> Geometry:
    """A view, which must lie inside of its base: it is not looked at again."""
    fields = _items(node, level)
    expect(len(fields) in (7, 8), "a view in a base is not of seven or eight parts")
    geometry = Geometry(*fields)
    _expect_layout(geometry.base_shape, geometry.base_strides)
    _expect_layout(geometry.shape, geometry.strides)
    expect(type(geometry.offset) is int and abs(geometry.offset) < MOST_BYTES, "a view has no offset")
    expect(isinstance(geometry.dtype, np.dtype) and type(geometry.in_parts) is bool, "a view has no dtype")
    expect(type(geometry.joins_parts) is bool, "a view has no dtype")
    expect(not geometry.joins_parts or geometry.shape[-1:] == (2,), "a view of pairs has none")
    low, high = extent(geometry)
    expect(high - low < MOST_BYTES and is_inside(geometry), "a view reaches beyond its base")
    return geometry


def _strides(node: Any, level: int) -> StridedGeometry:
    fields = _items(node, level)
    expect(len(fields) == 5, "a view by strides is not of five parts")
    geometry = StridedGeometry(*fields)
    _expect_layout(geometry.from_size, geometry.from_stride)
    _expect_layout(geometry.size, geometry.stride)
    expect(type(geometry.offset) is int and abs(geometry.offset) < MOST_BYTES, "a view has no offset")
    return geometry


def _expect_layout(shape: Any, strides: Any) -> None:
    expect(isinstance(shape, tuple) and isinstance(strides, tuple), "a shape or its strides are no lists")
    expect(len(shape) == len(strides) <= MOST_DIMS, "a shape and its strides differ in length")
    expect(all(type(size) is int and size >= 0 for size in shape), "a shape has a size that is none")
    expect(all(type(step) is int for step in strides), "strides are not integers")
    reach = sum((size - 1) * abs(step) for size, step in zip(shape, strides) if size)
    expect(reach < MOST_BYTES and math.prod(shape) < MOST_BYTES, "a shape is too large")


def _ellipsis(node: Any, level: int) -> Any:
    expect(node is True, "an ellipsis has no content")
    return ...


def _device(node: Any, level: int) -> Any:
    expect(node == "cpu", "there is no device but the CPU")
    return Device("cpu")


_Kind = tuple[type, Callable[[Any], Any], Callable[[Any, int], Any]]
_KINDS: dict[str, _Kind] = {
    "value": (Slot, lambda one: one.number, lambda node, _: Slot(integer(node, "the number of a value"))),
    "list": (list, lambda one: [encode(item) for item in one], _items),
    "float": (float, repr, _float),
    "complex": (complex, lambda one: [encode(one.real), encode(one.imag)], _complex),
    "slice": (slice, lambda one: [encode(one.start), encode(one.stop), encode(one.step)], _slice),
    "ellipsis": (type(...), lambda one: True, _ellipsis),
    "dtype": (np.dtype, lambda one: one.name, lambda node, _: dtype_of(node)),
    "device": (Device, str, _device),
    "table": (np.ndarray, _rows, _table),
    "view": (Geometry, lambda one: [encode(item) for item in one], _places),
    "strides": (StridedGeometry, lambda one: [encode(item) for item in one], _strides),
}
