"""The answers of ``torch.cpu``: the one device that there is."""

from __future__ import annotations

from typing import Any

from gradsmith.compat.torch.cpu import amp as amp
from gradsmith.names.missing import missing_attribute

__all__ = [
    "amp", "current_device", "device_count", "is_available", "is_initialized", "set_device", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a CPU: always."""
    return True


def is_initialized() -> bool:
    """Whether it can compute: always."""
    return True


def device_count() -> int:
    """Number of such devices: one."""
    return 1


def current_device() -> str:
    """The device that computes."""
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is nothing to choose from."""


def synchronize(device: Any = None) -> None:
    """Nothing to wait for: an op has its result when it returns."""


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
