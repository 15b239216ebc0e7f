"""Settings of cuDNN, NVIDIA's library of networks. It is not used: they may be set, and change nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags", "is_available", "version"]

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether there is cuDNN: never."""
    return False


def version() -> None:
    """The version of cuDNN: None."""
    return None


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """The settings within a block."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    outer = {name: globals()[name] for name in names}
    globals().update(zip(names, (enabled, benchmark, benchmark_limit, deterministic, allow_tf32), strict=True))
    try:
        yield
    finally:
        globals().update(outer)
