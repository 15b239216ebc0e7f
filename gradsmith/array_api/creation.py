"""Functions that make tensors."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import gradsmith as gs
from gradsmith.array_api.operands import DType, Tensor, tensor_of

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def asarray(obj: Any, /, *, dtype: DType | None = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """Tensor of a number, nested lists, an array or what exports memory; of a tensor the tensor, with its history.

    Parameters
    ----------
    copy : bool, optional
        True copies, False never does, and None only where it is needed.

    Raises
    ------
    ValueError
        `copy` is False, and the memory cannot be shared.
    """
    if copy and isinstance(obj, Tensor):
        return obj.to(obj.device if device is None else device, obj.dtype if dtype is None else dtype, copy=True)
    return gs.asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Tensor over the memory of another library's array; see `gradsmith.from_dlpack`."""
    return gs.from_dlpack(x, device=device, copy=copy)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Values from `start` (or zero) up to, not including, `stop`; none where the step leads away from it."""
    first, last = (0, start) if stop is None else (start, stop)
    if step != 0 and (last - first) * (1 if step > 0 else -1) <= 0:  # the step leads away
        last = first + type(last)(0)  # which still has a say in the dtype
    return gs.arange(first, last, step, dtype=dtype, device=device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` values evenly spaced from `start` to `stop`, with or without the last."""
    if isinstance(start, complex) or isinstance(stop, complex):
        return _complex_linspace(complex(start), complex(stop), num, dtype, device, endpoint)
    if endpoint:
        return gs.linspace(start, stop, num, dtype=dtype, device=device)
    return gs.linspace(start, stop, num + 1, dtype=dtype, device=device)[:-1]


def _complex_linspace(start: complex, stop: complex, num: int, dtype: Any, device: Any, endpoint: bool) -> Tensor:
    default = gs.complex64 if gs.get_default_dtype() != gs.float64 else gs.complex128
    line = np.linspace(start, stop, num, endpoint=endpoint)
    return gs.tensor(line, dtype=default if dtype is None else dtype, device=device)


def empty(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor with uninitialised values."""
    return gs.empty(_sizes(shape), dtype=dtype, device=device)


def zeros(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor of zeros."""
    return gs.zeros(_sizes(shape), dtype=dtype, device=device)


def ones(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor of ones."""
    return gs.ones(_sizes(shape), dtype=dtype, device=device)


def full(
    shape: int | tuple[int, ...], fill_value: complex, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Tensor of one value, whose dtype is the default one for that value unless given."""
    return gs.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def empty_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor with uninitialised values, of the shape, dtype and device of `x` unless others are given."""
    return gs.empty_like(tensor_of("empty_like", x), dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor of zeros, of the shape, dtype and device of `x` unless others are given."""
    return gs.zeros_like(tensor_of("zeros_like", x), dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor of ones, of the shape, dtype and device of `x` unless others are given."""
    return gs.ones_like(tensor_of("ones_like", x), dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: complex, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Tensor of one value, of the shape, dtype and device of `x` unless others are given."""
    return gs.full_like(tensor_of("full_like", x), fill_value, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Matrix with ones on the `k`-th diagonal above the main one, and zeros elsewhere."""
    if k == 0:
        return gs.eye(n_rows, n_cols, dtype=dtype, device=device)
    ones = np.eye(n_rows, n_cols, k, dtype=gs.get_default_dtype() if dtype is None else dtype)
    return gs.tensor(ones, device=device)


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> list[Tensor]:
    """Coordinates of the points of a grid, for each vector along an axis one tensor."""
    return list(gs.meshgrid(*arrays, indexing=indexing)) if arrays else []


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The elements of matrices on and below the `k`-th diagonal, zeros above."""
    return gs.tril(tensor_of("tril", x), k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The elements of matrices on and above the `k`-th diagonal, zeros below."""
    return gs.triu(tensor_of("triu", x), k)
