"""Devices: where the data of a tensor is.

There are two. "cpu" is main memory. Tensors on "meta" have a shape, a dtype and a history, and no data: every op works
on them and finds out what shape and dtype its result would have.
"""

from __future__ import annotations

import operator
from typing import Any

__all__ = ["device"]

TYPES = ("cpu", "meta")


class device:
    """Where the data of a tensor is.

    Parameters
    ----------
    type : str or device
        ``"cpu"`` or ``"meta"``, with or without a number: ``"cpu:0"``.
    index : int, optional
        The number, when the first argument has none.

    Raises
    ------
    RuntimeError
        For a type that does not exist, or an index that is no number.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {type}"
                )
            index = _index_in(type, number)
        if name not in TYPES:
            raise RuntimeError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {type}")
        if index is not None and operator.index(index) < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", None if index is None else operator.index(index))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a device does not change: '{name}' cannot be set")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __eq__(self, other: object) -> bool:
        """Of the same type and index; a device also equals its name."""
        return str(self) == str(other) if isinstance(other, (device, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)


def _index_in(text: str, number: str) -> int:
    if not (number.isascii() and number.isdigit()):
        raise RuntimeError(f"Invalid device string: '{text}'")
    return int(number)


DeviceLike = str | device

# In the order of DeviceNumber in node.pxd.
ALL = CPU, META = device("cpu"), device("meta")


def as_device(value: Any, op: str) -> device:
    """The device that an argument names.

    There is one of each type: the index that a program may give makes no difference.
    """
    if not isinstance(value, (str, device)):
        raise TypeError(f"{op}(): argument 'device' must be gradsmith.device, not {type(value).__name__}")
    try:
        found = device(value)
    except RuntimeError as error:
        raise RuntimeError(f"{op}(): {error}") from None
    return META if found.type == "meta" else CPU


def is_device_name(value: Any) -> bool:
    """Whether an argument that may be a dtype or a device names a device."""
    return isinstance(value, device) or (isinstance(value, str) and value.partition(":")[0] in TYPES)
