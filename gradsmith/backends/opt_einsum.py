"""The package opt_einsum, which is not used: `gradsmith.einsum` orders the products itself."""

from __future__ import annotations

__all__ = ["enabled", "is_available", "strategy"]

enabled = False
strategy = None


def is_available() -> bool:
    """Whether `einsum` uses opt_einsum: no."""
    return False
