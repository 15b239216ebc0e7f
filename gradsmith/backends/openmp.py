"""OpenMP, which is not used: threads are the package's own, see `gradsmith.set_num_threads`."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether the package was compiled with OpenMP: no."""
    return False
