"""Apple's Metal, which is not used."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Whether there is a device of Metal: never."""
    return False


def is_built() -> bool:
    """Whether the package was compiled with Metal: no."""
    return False
