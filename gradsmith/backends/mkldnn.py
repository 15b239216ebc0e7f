"""Intel's oneDNN, which is not used."""

from __future__ import annotations

__all__ = ["enabled", "is_available"]

enabled = False


def is_available() -> bool:
    """Whether the package was compiled with oneDNN: no."""
    return False
