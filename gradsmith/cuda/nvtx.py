"""Marks for NVIDIA's profilers, which there is nothing to be seen with: `gradsmith.profiler` measures programs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def range_push(msg: str) -> NoReturn:
    """RuntimeError, as in PyTorch without CUDA."""
    raise RuntimeError(
        "NVTX functions not installed: gradsmith computes on the CPU only. gradsmith.profiler.record_function marks "
        "parts of a program for gradsmith.profiler.profile"
    )


range_start = mark = range_push


def range_pop() -> NoReturn:
    """RuntimeError, as in PyTorch without CUDA."""
    range_push("")


def range_end(range_id: Any) -> NoReturn:
    """RuntimeError, as in PyTorch without CUDA."""
    range_push("")


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block between `range_push` and `range_pop`: RuntimeError."""
    range_push(msg.format(*args, **kwargs))
    yield
