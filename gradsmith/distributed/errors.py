"""What goes wrong between ranks."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError"]


class DistError(RuntimeError):
    """An error of communication."""


class DistBackendError(DistError):
    """A collective that did not come about: a rank is missing, has ended, or calls something else."""
