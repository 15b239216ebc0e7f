"""`make_tensor`: a tensor of any dtype and shape, with random elements from a range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.runtime.arrays import dtypes
from gradsmith.runtime.arrays.device import DeviceLike
from gradsmith.runtime.tensors.factories.creation import empty, from_numpy
from gradsmith.runtime.tensors.factories.random import rand, randint

# Lowest and highest element where no bounds are given, by kind of dtype.
_BOUNDS = {"b": (0, 2), "u": (0, 10), "i": (-9, 10), "f": (-9, 9), "c": (-9, 9)}


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: DeviceLike = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor whose elements are drawn evenly from ``[low, high)``.

    Parameters
    ----------
    *shape : int or sequence of int
    dtype : dtype
    device : device
        ``"cpu"`` or ``"meta"``.
    low, high : number, optional
        Bounds of the elements, of real and imaginary parts. Without them bool tensors have both values, unsigned
        integers are below 10, all others between -9 and 9.
    requires_grad : bool
    noncontiguous : bool
        Whether the elements lie apart in memory, where there are several.
    exclude_zero : bool
        Replace zeros by the smallest positive number, of integers by one.
    memory_format : memory_format, optional
        Order of the dimensions in memory; not together with `noncontiguous`.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        For bounds without a number between them, or a `memory_format` of elements that lie apart.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.testing.make_tensor((2, 3), dtype=gs.float32, low=0, high=1).shape
    (2, 3)
    """
    dtype = dtypes.as_dtype(dtype, "make_tensor")
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor(): the parameters `noncontiguous` and `memory_format` are mutually exclusive")
    size = tuple(shape[0]) if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
    result = _drawn(size, dtype, *_bounds(dtype, low, high), device)
    if exclude_zero and not result.is_meta:
        result[result == 0] = 1 if dtype.kind in "biu" else float(np.finfo(dtype).tiny)
    if noncontiguous and result.numel() > 1:
        result = _apart(result)
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    return result.requires_grad_(requires_grad)


def _bounds(dtype: np.dtype[Any], low: float | None, high: float | None) -> tuple[float, float]:
    lowest, highest = _BOUNDS[dtype.kind]
    low, high = lowest if low is None else low, highest if high is None else high
    if math.isnan(low) or math.isnan(high) or low > high or (low == high and dtype.kind in "biu"):
        raise ValueError(f"make_tensor(): `low` must be below `high`, but got {low} >= {high}")
    if dtype.kind in "fc":
        return low, high
    limits = (0, 2) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return max(math.ceil(low), int(limits[0])), min(math.ceil(high), int(limits[1]), 2**63 - 1)


def _drawn(size: tuple[int, ...], dtype: np.dtype[Any], low: float, high: float, device: DeviceLike) -> Any:
    if str(device).partition(":")[0] == "meta":
        return empty(size, dtype=dtype, device=device)
    if dtype.kind in "biu":
        return randint(int(low), int(high), size, dtype=dtypes.int64, device=device).to(dtype)
    if dtype.kind == "c":
        parts = [_even(size, low, high).numpy() for _ in range(2)]
        return from_numpy(np.asarray(parts[0] + 1j * parts[1], dtype))
    return _even(size, low, high).to(dtype)


def _even(size: tuple[int, ...], low: float, high: float) -> Any:
    return rand(size, dtype=dtypes.float64) * (high - low) + low


def _apart(tensor: Any) -> Any:
    """The same elements in every second place of memory."""
    wide = np.repeat(tensor.numpy()[..., None], 2, -1)
    return from_numpy(wide)[..., 0] if tensor.ndim else tensor
