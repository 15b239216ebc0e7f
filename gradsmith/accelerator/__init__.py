"""The answers of ``torch.accelerator`` on a machine without one.

>>> import gradsmith as gs
>>> gs.accelerator.current_accelerator() if gs.accelerator.is_available() else "cpu"
'cpu'
"""

from __future__ import annotations

from typing import Any, NoReturn

from gradsmith.names.missing import missing_attribute

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "empty_cache", "is_available",
    "set_device_index", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is an accelerator: never."""
    return False


def device_count() -> int:
    """Number of accelerators: zero."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """The accelerator: None."""
    return None


def empty_cache() -> None:
    """Nothing: `gradsmith.empty_cache` is for the memory of the CPU."""


def synchronize(device: Any = None) -> None:
    """Nothing to wait for: an op has its result when it returns."""


def current_device_index() -> NoReturn:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError(
        "Cannot access accelerator device when none is available: gradsmith computes on the CPU only. Ask "
        "accelerator.is_available() first"
    )


def set_device_index(device: Any) -> NoReturn:
    """RuntimeError: there is no accelerator."""
    current_device_index()


current_stream = set_device_index


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
