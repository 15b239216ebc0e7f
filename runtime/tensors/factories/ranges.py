"""Ranges of integers with bounds that are fractions, as PyTorch counts them.

The bounds become integers first, and must fit the dtype; fractions of a step count only where PyTorch lets them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.array import element_of

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
    DType = np.dtype[Any]

# Up to here float32, in which PyTorch computes the steps, holds every integer.
_EXACT = 2.0**24


def integer_count(start: float, end: float, step: float, dtype: DType) -> int:
    """The length of an ``arange`` of integers: as the fractions say, but for int64."""
    if dtype == np.int64:
        start, end, step = (_integer(bound, dtype) for bound in (start, end, step))
        if step == 0:
            raise ValueError("arange(): step must be nonzero")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return max(-((start - end) // step), 0)  # exact, whatever their size
    return max(math.ceil((end - start) / step), 0)


def integer_steps(start: float, end: float, step: float, dtype: DType) -> Array:
    """``arange`` of an integer dtype, which steps by integers."""
    count = integer_count(start, end, step, dtype)
    steps: Array = np.arange(count, dtype=np.int64)
    return _integer(start, dtype) + _integer(step, dtype) * steps


def integer_powers(base: Any, exponents: Array) -> Array:
    """The powers, cut off to integers."""
    with np.errstate(all="ignore"):
        return np.asarray(np.power(base, exponents.astype(np.float64))).astype(np.int64)


def first_point(start: complex, base: Any, steps: int, dtype: DType) -> Array:
    """``linspace``, or ``logspace`` to a base, of one step or none: then the other end is not looked at."""
    if not steps:
        return np.empty(0, dtype)
    with np.errstate(all="ignore"):
        value = start if base is None else np.power(base, start, dtype=np.result_type(base, start, np.float64)).item()
    return element_of(value, dtype).reshape(1)


def integer_line(op: str, start: complex, end: complex, steps: int, dtype: DType) -> Array:
    """The points of ``linspace`` for an integer dtype, computed without rounding and then cut off."""
    first, last = _integer_bounds(op, start, end, dtype)
    whole, part = divmod(last - first, steps - 1)
    index = np.arange(steps, dtype=np.int64)
    below, rest = np.divmod(part * index, steps - 1)
    with np.errstate(over="ignore"):  # products may leave the range of 64 bits; the sums are back in it
        points = _wrapped(first) + _wrapped(whole) * index.view(np.uint64) + below.view(np.uint64)
    if dtype == np.uint64:
        return np.asarray(points)
    floors = points.view(np.int64)
    return np.asarray(floors + ((floors < 0) & (rest != 0)))


def integer_exponents(op: str, start: complex, end: complex, steps: int, dtype: DType) -> Array:
    """The exponents of ``logspace`` for an integer dtype, between whole numbers."""
    first, last = _integer_bounds(op, start, end, dtype)
    kind = np.float32 if max(abs(first), abs(last)) <= _EXACT else np.float64
    step = kind(last - first) / kind(steps - 1)
    index = np.arange(steps)
    ahead = kind(first) + step * index.astype(kind)
    back = kind(last) - step * (steps - 1 - index).astype(kind)
    points: Array = np.where(index < steps // 2, ahead, back)
    return points


def _integer_bounds(op: str, start: complex, end: complex, dtype: DType) -> tuple[int, int]:
    if dtype == np.bool_:
        raise NotImplementedError(f"{op}(): not defined for dtype bool")
    return _integer(start, dtype), _integer(end, dtype)


def _wrapped(number: int) -> Array:
    return np.array(number % 2**64, np.uint64)


def line(first: complex, last: complex, steps: int) -> Array:
    """The points of ``linspace`` in double, counted from the nearer end; infinities and NaN spread as they compute."""
    index = np.arange(steps)
    with np.errstate(all="ignore"):
        step = (np.asarray(last) - np.asarray(first)) / (steps - 1)
        points: Array = np.where(index < steps // 2, first + step * index, last - step * (steps - 1 - index))
    return points


def _integer(value: complex, dtype: DType) -> int:
    """The value in the dtype: cut off, and refused where it does not fit."""
    return int(element_of(value, dtype))
