"""Tensors whose elements lie in memory as a caller says, and a tensor that takes the size of another.

``empty_strided((2, 3), (1, 2))`` has its columns one after the other; ``empty_permuted`` says the same by an order of
dimensions.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.dtypes import as_dtype, get_default_dtype
from gradsmith.runtime.arrays.memory_format import expect_strided
from gradsmith.runtime.tensors.factories.creation import allocate, as_size, filler, made
from gradsmith.runtime.tensors.factories.python_data import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor
    from gradsmith.runtime.arrays.device import DeviceLike

    Array = np.ndarray[Any, Any]

__all__ = ["empty_permuted", "empty_strided", "resize_as_"]


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Tensor with uninitialised values and given strides.

    Parameters
    ----------
    size : sequence of int
    stride : sequence of int
        For each dimension, how many elements of memory lie between one place and the next.
    dtype, device, requires_grad
        As of `empty`.
    layout, pin_memory
        Without effect; the one layout is `strided`.

    Raises
    ------
    RuntimeError
        There are more or fewer strides than sizes, or one of either is negative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    expect_strided("empty_strided", layout)
    sizes = as_size("empty_strided", (size,), {}, one_number=False)
    steps = _strides("empty_strided", stride, sizes)
    return _uninitialised("empty_strided", sizes, lambda _: steps, dtype, device, requires_grad)


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DTypeLike | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Tensor with uninitialised values whose dimensions lie in memory, without gaps, in a given order.

    Parameters
    ----------
    size : sequence of int
    physical_layout : sequence of int
        The dimensions, from the outermost in memory to the innermost.
    dtype, layout, device, requires_grad, pin_memory
        As of `empty_strided`.

    Raises
    ------
    RuntimeError
        `physical_layout` does not name each dimension once.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.empty_permuted((2, 3, 4), (1, 2, 0)).stride()
    (1, 8, 2)
    """
    expect_strided("empty_permuted", layout)
    sizes = as_size("empty_permuted", (size,), {}, one_number=False)
    order = [operator.index(dim) for dim in physical_layout]
    if sorted(order) != list(range(len(sizes))):
        raise RuntimeError(
            f"empty_permuted(): expected physical_layout to name each of the {len(sizes)} dimensions once, got {order}"
        )
    return _uninitialised("empty_permuted", sizes, lambda shape: _ordered(shape, order), dtype, device, requires_grad)


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give `input` the size of another tensor, in place; see `Tensor.resize_`.

    Parameters
    ----------
    input, the_template : Tensor
    memory_format
        Without effect: elements follow each other row by row.

    Returns
    -------
    Tensor
        `input` itself.
    """
    for name, given in (("input", input), ("the_template", the_template)):
        if not is_tensor(given):
            raise TypeError(f"resize_as_(): argument '{name}' must be Tensor, not {type(given).__name__}")
    return input.resize_as_(the_template)


def _strides(op: str, stride: Sequence[int], sizes: tuple[int, ...]) -> tuple[int, ...]:
    steps = tuple(map(operator.index, stride))
    if len(steps) != len(sizes):
        raise RuntimeError(
            f"{op}(): dimensionality of sizes ({len(sizes)}) must match dimensionality of strides ({len(steps)})"
        )
    if any(step < 0 for step in steps):
        raise RuntimeError(f"{op}(): every stride must be non-negative, got {steps}")
    return steps


def _ordered(shape: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of dimensions that lie in memory in an order, the outermost first."""
    steps = {dim: math.prod(max(shape[inner], 1) for inner in order[i + 1 :]) for i, dim in enumerate(order)}
    return tuple(steps[dim] for dim in range(len(shape)))


def _uninitialised(
    op: str,
    shape: tuple[int, ...],
    strides: Callable[[tuple[int, ...]], tuple[int, ...]],
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    def fill(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return _over_new_memory(shape, strides(shape), dtype)

    wanted = get_default_dtype() if dtype is None else as_dtype(dtype, op)
    return made(allocate(op, filler(fill, device, None, op), shape, wanted), requires_grad, op, device=device)


def _over_new_memory(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    memory: Array = np.empty(extent(shape, strides), dtype)
    array: Array = np.ndarray(shape, dtype, memory, strides=[step * dtype.itemsize for step in strides])
    return array


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements of memory lie from the first to the last."""
    return sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) + 1 if math.prod(shape) else 0
