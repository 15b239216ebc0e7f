"""Single functions of PyTorch that are deprecated or have a leading underscore."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradsmith.compat.torch.symbols import SymBool
from gradsmith.generated import repeat_interleave, searchsorted, stack
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import get_default_dtype, int32, int64
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.tensors.factories.creation import arange, as_tensor
from gradsmith.segments import segment_reduce as _segment_reduce

__all__ = [
    "_assert", "_assert_async", "_check", "_check_index", "_check_is_size", "_check_not_implemented",
    "_check_tensor_all", "_check_type", "_check_value", "_check_with", "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo", "_has_compatible_shallow_copy_type", "_segment_reduce", "_shape_as_tensor",
    "range",
]  # fmt: skip


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


def _convert_indices_from_coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins and the last one ends, among sorted row indices."""
    return searchsorted(input, arange(size + 1, dtype=input.dtype), out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each element, or with `transpose` the column and the row."""
    rows = repeat_interleave(arange(len(crow_indices) - 1), crow_indices.diff())
    both = [col_indices, rows] if transpose else [rows, col_indices]
    return stack([indices.to(int32 if out_int32 else int64) for indices in both])


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError unless a condition is true."""
    assert condition, message


def _check_with(error: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise an error unless a condition, a bool, is true; the message is made when it is needed."""
    if not isinstance(cond, (bool, SymBool)):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error("Expected cond to be True, but got False" if message is None else str(message()))


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError unless a condition is true."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise IndexError unless a condition is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise ValueError unless a condition is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise TypeError unless a condition is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise NotImplementedError unless a condition is true."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError for a negative size."""
    _check(i >= 0, message)


def _check_tensor_all(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError unless all elements of a tensor of dtype bool are true."""
    if not isinstance(cond, Tensor) or cond.dtype.kind != "b":
        raise TypeError(f"cond must be a tensor of dtype bool, but got {getattr(cond, 'dtype', type(cond))}")
    _check(bool(cond.all()), message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError unless a tensor of one element is true; at once, as nothing here runs later."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _has_compatible_shallow_copy_type(input: Tensor, from_: Tensor) -> bool:
    """Whether `Tensor.data` of one can be set to the other: all tensors are of one kind."""
    return True


def _shape_as_tensor(input: Tensor) -> Tensor:
    """The sizes of a tensor as a tensor of int64."""
    return as_tensor(list(input.shape), dtype=int64)
