"""Products of matrices and vectors, which the namespace has itself and under `linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradsmith as gs
from gradsmith.array_api.operands import Tensor, promoted, tensor_of
from gradsmith.runtime.tensors.summed_axes import expect_same_sizes

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of matrices; a vector is a row on the left and a column on the right."""
    return gs.matmul(*promoted("matmul", tensor_of("matmul", x1), tensor_of("matmul", x2)))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The matrices with their last two axes exchanged, a view.

    Raises
    ------
    ValueError
        `x` has fewer than two axes.
    """
    if tensor_of("matrix_transpose", x).ndim < 2:
        raise ValueError(f"matrix_transpose(): needs at least two axes, but got {x.ndim}")
    return x.mT


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sums of products over axes of both.

    Parameters
    ----------
    axes : int or pair of sequences of int
        How many of the last axes of `x1` and the first of `x2`, or which ones of each.
    """
    dims: Any = axes if isinstance(axes, int) else [list(axis) for axis in axes]
    first, second = promoted("tensordot", tensor_of("tensordot", x1), tensor_of("tensordot", x2))
    summed: Any = (range(-dims, 0), range(dims)) if isinstance(dims, int) else dims
    expect_same_sizes("tensordot", first, second, *summed)
    return gs.tensordot(first, second, dims)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Inner products of vectors along an axis; complex elements of `x1` are conjugated."""
    first, second = promoted("vecdot", tensor_of("vecdot", x1), tensor_of("vecdot", x2))
    expect_same_sizes("vecdot", first, second, [axis], [axis])
    return gs.linalg.vecdot(first, second, dim=axis).to(first.dtype)  # the op sums integers in 64 bits
