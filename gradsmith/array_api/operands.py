"""Operands as the standard promotes them: by their dtypes alone, whatever their shapes.

The operators of tensors follow PyTorch, where a tensor without dimensions has no say among others of its kind. In the
standard it has, and a Python number takes the dtype of the array beside it.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.runtime.arrays.dtypes import as_dtype, default_complex_dtype, promote_types
from gradsmith.runtime.graph.tensor import from_array

Tensor = gs.Tensor
DType = np.dtype[Any]

_NUMBERS = (bool, int, float, complex)
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype of a result of these operands.

    Parameters
    ----------
    *arrays_and_dtypes : Tensor, dtype or number
        One of them at least is no number.

    Raises
    ------
    ValueError
        There are only numbers, or nothing at all.

    Examples
    --------
    >>> import gradsmith.array_api as xp
    >>> xp.result_type(xp.ones(3, dtype=xp.float32), xp.asarray(1.0, dtype=xp.float64), 2)
    dtype('float64')
    """
    dtypes = [_dtype_of(operand) for operand in arrays_and_dtypes if not isinstance(operand, _NUMBERS)]
    if not dtypes:
        raise ValueError("result_type(): needs at least one array or dtype")
    found = dtypes[0] if len(dtypes) == 1 else functools.reduce(promote_types, dtypes)
    return functools.reduce(with_number, (n for n in arrays_and_dtypes if isinstance(n, _NUMBERS)), found)


def _dtype_of(operand: Any) -> DType:
    return operand.dtype if isinstance(operand, (Tensor, np.generic)) else as_dtype(operand, "result_type")


def with_number(dtype: DType, number: complex) -> DType:
    """The dtype of a tensor of `dtype` and a Python number, which has a kind and no precision."""
    rank = _NUMBERS.index(type(number)) if type(number) in _NUMBERS else 2
    if rank <= _RANK[dtype.kind]:
        return dtype
    if rank == 1:
        return gs.int64
    if rank == 2:
        return gs.get_default_dtype()
    return promote_types(dtype, gs.complex64) if dtype.kind == "f" else default_complex_dtype()


def promoted(function: str, *operands: Any) -> tuple[Tensor, ...]:
    """The operands as tensors of one dtype.

    Raises
    ------
    TypeError
        None of them is a tensor, or one is neither tensor nor number.
    """
    first = _first_tensor(function, operands)
    if all(isinstance(operand, Tensor) and operand.dtype is first.dtype for operand in operands):
        return operands
    for operand in operands:
        if not isinstance(operand, (Tensor, np.generic, *_NUMBERS)):
            raise TypeError(f"{function}(): expected tensors or numbers, but got {type(operand).__name__}")
    dtype = result_type(*operands)
    return tuple(_as(operand, dtype, first) for operand in operands)


def _first_tensor(function: str, operands: tuple[Any, ...]) -> Tensor:
    for operand in operands:
        if isinstance(operand, Tensor):
            return operand
    raise TypeError(f"{function}(): one of the operands must be a tensor; make it one with asarray()")


def _as(operand: Any, dtype: DType, first: Tensor) -> Tensor:
    if isinstance(operand, Tensor):
        return operand if operand.dtype == dtype else operand.to(dtype)
    number = from_array(np.array(operand, dtype))
    return number.to(first.device) if first.is_meta else number


def tensor_of(function: str, x: Any) -> Tensor:
    """`x`, which must be a tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{function}(): expected a Tensor, but got {type(x).__name__}; make it one with asarray()")
    return x


def axes_of(function: str, x: Tensor, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes to reduce: all for None, else each once and counted from the front.

    Raises
    ------
    IndexError
        There is no such axis.
    ValueError
        One is named twice.
    """
    if axis is None:
        return tuple(range(x.ndim))
    axes = tuple(axis_of(function, x.ndim, one) for one in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) < len(axes):
        raise ValueError(f"{function}(): an axis is named twice in {axis}")
    return axes


def axis_of(function: str, ndim: int, axis: int) -> int:
    """An axis counted from the front."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise IndexError(f"{function}(): axis {number} is out of range for a tensor of {ndim} dimensions")
    return number % ndim
