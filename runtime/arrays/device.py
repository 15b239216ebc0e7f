"""Devices: where the data of a tensor is.

There are two. "cpu" is main memory. Tensors on "meta" have a shape, a dtype and a history, and no data: every op works
on them and finds out what shape and dtype its result would have. The accelerators of PyTorch can be named, since
programs have `device("cuda")` among their default arguments; what is asked to compute there raises.
"""

from __future__ import annotations

import operator
import threading
from typing import Any

from gradsmith.runtime.switches.threads import register_switch

__all__ = ["device", "get_default_device", "set_default_device"]

TYPES = ("cpu", "meta")

# Devices that programs written for PyTorch ask for.
ACCELERATORS = (
    "cuda", "hip", "hpu", "ipu", "lazy", "maia", "mkldnn", "mps", "mtia", "opencl", "opengl", "privateuseone", "vulkan",
    "xla", "xpu",
)  # fmt: skip


class device:
    """Device of a tensor's data.

    In a ``with`` block, what is created without a `device` is created there.

    Parameters
    ----------
    type : str or device
        ``"cpu"`` or ``"meta"``, with or without a number: ``"cpu:0"``. An accelerator, ``"cuda"``, can be named and
        compared; there is none, so that no tensor can be made there.
    index : int, optional
        The number, when the first argument has none.

    Raises
    ------
    RuntimeError
        For a type that does not exist, or an index that is no number. For a number instead of a type, which would be
        that of an accelerator: there is none, `gs.cuda.is_available()` is False.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, int) and not isinstance(type, bool):
            raise RuntimeError(_no_accelerator(f"{type}, the number of an accelerator"))
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
        if name not in TYPES and name not in ACCELERATORS:
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

    def __enter__(self) -> device:
        check_is_here(self)
        _default.outer.append(_default.device)
        _set_default(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if _default.outer:
            _default.device = _default.outer.pop()

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)


def _index_in(text: str, number: str) -> int:
    if not (number.isascii() and number.isdigit()):
        raise RuntimeError(f"Invalid device string: '{text}'")
    return int(number)


def check_is_here(wanted: device) -> None:
    """Refuse an accelerator, on which nothing can be."""
    if wanted.type not in TYPES:
        raise RuntimeError(_no_accelerator(f"'{wanted}'"))


def _no_accelerator(asked: str) -> str:
    return (
        f"gradsmith computes on the CPU only: there is no device {asked}. Leave the device out, or let the program "
        'choose: device = "cuda" if torch.cuda.is_available() else "cpu"'
    )


DeviceLike = str | device

# In the order of DeviceNumber in node.pxd.
ALL = CPU, META = device("cpu"), device("meta")


def as_device(value: Any, op: str) -> device:
    """The device that an argument names.

    There is one of each type: the index that a program may give makes no difference.
    """
    if value is CPU or value is META:
        return value
    if not isinstance(value, (str, device, int)) or isinstance(value, bool):
        raise TypeError(f"{op}(): argument 'device' must be gradsmith.device, not {type(value).__name__}")
    try:
        found = device(value)
        check_is_here(found)
    except RuntimeError as error:
        raise RuntimeError(f"{op}(): {error}") from None
    return META if found.type == "meta" else CPU


# ---- the default device


class _Default(threading.local):
    """The thread's default device, and those that enclosing blocks will restore. None is main memory."""

    def __init__(self) -> None:
        self.device: device | None = None
        self.outer: list[device | None] = []


_default = _Default()

default_was_set = False
"""Has any thread ever had a default device? While none has, nobody needs to look for one."""


def set_default_device(device: DeviceLike | None) -> None:
    """Create tensors on this device when no other is asked for, in this thread. None is the same as ``"cpu"``.

    Holds for functions that create tensors from nothing or from Python data, not for those that make a tensor like
    another. Inside ``with device(...)``, until the end of the block.
    """
    _set_default(None if device is None else _as_named(device))


def _set_default(found: device | None) -> None:
    global default_was_set
    default_was_set = True
    _default.device = found


def _as_named(value: Any) -> device:
    if not isinstance(value, (str, device)):
        raise TypeError(f"set_default_device(): expected a device or its name, got {type(value).__name__}")
    found = device(value)
    check_is_here(found)
    return found


def get_default_device() -> device:
    """Device on which this thread creates tensors by default."""
    return _default.device or CPU


def default_is_meta() -> bool:
    """Whether the default device is the one without data."""
    return _default.device is not None and _default.device.type == "meta"


def _get_default() -> tuple[device | None, list[device | None]]:
    return _default.device, _default.outer


def _put_default(found: tuple[device | None, list[device | None]]) -> None:
    _default.device, _default.outer = found[0], list(found[1])


register_switch(_get_default, _put_default)


def is_device_name(value: Any) -> bool:
    """Whether an argument that may be a dtype or a device names a device, be it one that is not there."""
    if isinstance(value, str):
        return value.partition(":")[0] in (*TYPES, *ACCELERATORS)
    return isinstance(value, device) or type(value) is int
