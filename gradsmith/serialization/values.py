"""Small values, which a tree writes out: each is an object of JSON with one key that says its kind.

Everything read is validated: a file gives a value of the expected kind, or an error.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.device import device as Device
from gradsmith.runtime.arrays.dtypes import MISSING, MissingDtype
from gradsmith.runtime.graph.size import Size
from gradsmith.serialization.arrays import DTYPES
from gradsmith.serialization.errors import CorruptFileError

Node = dict[str, Any]

_PATHS: dict[str, Any] = {cls.__name__: cls for cls in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)}


def node_of(value: Any) -> Node | None:
    """The JSON of a small value; None for everything else."""
    kind = type(value)
    if kind is float:
        return {"float": repr(value)}
    if kind is complex:
        return {"complex": [repr(value.real), repr(value.imag)]}
    if kind in (bytes, bytearray):
        return {kind.__name__: base64.b64encode(value).decode("ascii")}
    if kind is range:
        return {"range": [hex(number) for number in (value.start, value.stop, value.step)]}
    if kind is Size:
        return {"Size": list(value)}
    if kind is MissingDtype:
        return {"missing_dtype": value.__name__}
    if isinstance(value, np.dtype) and value.name in DTYPES:
        return {"dtype": value.name}
    if isinstance(value, Device):
        return {"device": str(value)}
    if kind in _PATHS.values():
        return {"path": str(value), "of": kind.__name__}
    return _node_of_date(value)


def _node_of_date(value: Any) -> Node | None:
    kind = type(value)
    if kind is timedelta:
        return {"timedelta": _numbers_of(value)}
    if kind is timezone:
        offset, *name = value.__getinitargs__()
        return {"timezone": _numbers_of(offset), "name": name[0] if name else None}
    if kind is date:
        return {"date": value.isoformat()}
    if kind not in (datetime, time) or type(value.tzinfo) not in (type(None), timezone):
        return None
    zone = None if value.tzinfo is None else _node_of_date(value.tzinfo)
    return {kind.__name__: value.replace(tzinfo=None).isoformat(), "fold": value.fold, "zone": zone}


def _numbers_of(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


# ---- and back


def known_dtype(name: Any) -> np.dtype[Any]:
    if name not in DTYPES:
        raise CorruptFileError(f"load: there are no tensors of dtype {name!r}")
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype


def _missing_dtype(node: Node) -> MissingDtype:
    name = node["missing_dtype"]
    if name not in MISSING:
        raise CorruptFileError(f"load: there is no dtype {name!r}")
    return MISSING[name]


def whole_numbers(values: Any) -> list[int]:
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise CorruptFileError(f"load: the tree has {values!r} where a list of whole numbers should be")
    return values


def _complex(node: Node) -> complex:
    real, imaginary = node["complex"]
    return complex(float(real), float(imaginary))


def _bytes(node: Node) -> bytes:
    return base64.b64decode(node["bytes"], validate=True)


def _bytearray(node: Node) -> bytearray:
    return bytearray(base64.b64decode(node["bytearray"], validate=True))


def _range(node: Node) -> range:
    start, stop, step = (int(number, 16) for number in node["range"])
    return range(start, stop, step)


def _path(node: Node) -> PurePath:
    """A path of this system; one of another system comes back without the methods that ask the system."""
    try:
        path: PurePath = _PATHS[node["of"]](node["path"])
    except NotImplementedError:
        path = _PATHS[f"Pure{node['of']}"](node["path"])
    return path


def _timedelta(numbers: Any) -> timedelta:
    days, seconds, microseconds = whole_numbers(numbers)
    return timedelta(days, seconds, microseconds)


def _timezone(node: Node) -> timezone:
    offset, name = _timedelta(node["timezone"]), node["name"]
    return timezone(offset) if name is None else timezone(offset, name)


def _zoned(value: Any, node: Node) -> Any:
    zone = None if node["zone"] is None else _timezone(node["zone"])
    return value.replace(tzinfo=zone, fold=node["fold"])


READERS: dict[str, Callable[[Node], Any]] = {
    "int": lambda node: int(node["int"], 16),
    "float": lambda node: float(node["float"]),
    "complex": _complex,
    "bytes": _bytes,
    "bytearray": _bytearray,
    "range": _range,
    "Size": lambda node: Size(whole_numbers(node["Size"])),
    "dtype": lambda node: known_dtype(node["dtype"]),
    "missing_dtype": _missing_dtype,
    "device": lambda node: Device(node["device"]),
    "path": _path,
    "timedelta": lambda node: _timedelta(node["timedelta"]),
    "timezone": _timezone,
    "date": lambda node: date.fromisoformat(node["date"]),
    "time": lambda node: _zoned(time.fromisoformat(node["time"]), node),
    "datetime": lambda node: _zoned(datetime.fromisoformat(node["datetime"]), node),
}
