"""Single functions of PyTorch that are deprecated or have a leading underscore."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.tensors.factories.creation import arange
from gradsmith.segments import segment_reduce as _segment_reduce

__all__ = ["_assert", "_assert_async", "_segment_reduce", "range"]


def range(start: float = 0, end: float | None = None, step: float = 1, *, dtype: Any = None, **where: Any) -> Tensor:
    """Values from `start` up to and including `end`, in the default dtype; deprecated in favour of `arange`."""
    warn_caller("torch.range is deprecated; torch.arange, which leaves the end out, takes its place.")
    if end is None:
        raise TypeError("range() missing 1 required argument: 'end'")
    if step == 0:
        raise RuntimeError("range(): step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(f"range(): no way from {start} to {end} in steps of {step}: the step has the wrong sign")
    count = math.floor((end - start) / step) + 1
    values = arange(count, dtype=get_default_dtype() if dtype is None else dtype, **where)
    return values.mul_(step).add_(start)


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError unless a condition is true."""
    assert condition, message


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError unless a tensor of one element is true; at once, as nothing here runs later."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")
