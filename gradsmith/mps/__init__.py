"""The answers of ``torch.mps``, for Apple's Metal, on a machine without such a device."""

from __future__ import annotations

from typing import Any

from gradsmith.names.missing import missing_attribute

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all", "seed", "synchronize"]


def is_available() -> bool:
    """Whether there is such a device: never."""
    return False


def device_count() -> int:
    """Number of such devices: zero."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: `gradsmith.manual_seed` is for the CPU."""
    int(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Nothing: `gradsmith.seed` is for the CPU."""


def empty_cache() -> None:
    """Nothing: `gradsmith.empty_cache` is for the memory of the CPU."""


def synchronize(device: Any = None) -> None:
    """Nothing to wait for: an op has its result when it returns."""


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
