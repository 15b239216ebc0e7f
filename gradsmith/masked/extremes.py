"""The greatest, the least and the middle of the elements under a mask, and where they are."""

from __future__ import annotations

import math

from numpy.typing import DTypeLike

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor
from gradsmith.masked.filling import Dims, dims_of, filled, highest, lowest, ordered, place_of
from gradsmith.runtime.arrays.dtypes import as_dtype, float32

__all__ = ["amax", "amin", "argmax", "argmin", "median"]


def amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The greatest elements under a mask, and the lowest number of the dtype where there are none.

    Parameters
    ----------
    input : Tensor
        Of a real dtype that is not bool.
    dim : int or tuple of int, optional
        Along which dimensions; by default, and for ``()``, all.
    keepdim : bool, optional
        Let the result have these dimensions, of size 1.
    dtype : dtype, optional
        Of the result; by default that of the input.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.masked.amax(gs.tensor([[1.0, 2.0], [4.0, 3.0]]), 1, mask=gs.tensor([True, False]))
    tensor([1., 4.])
    """
    of_mask = filled("amax", ordered("amax", input), mask, lowest(input.dtype))
    return ops.amax(of_mask, dims_of("amax", dim, input.ndim), bool(keepdim)).to(_of_result(input, dtype))


def amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The least elements under a mask, and the highest number of the dtype where there are none; see `amax`."""
    of_mask = filled("amin", ordered("amin", input), mask, highest(input.dtype))
    return ops.amin(of_mask, dims_of("amin", dim, input.ndim), bool(keepdim)).to(_of_result(input, dtype))


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Places of the greatest elements under a mask, along a dimension or in the flattened tensor.

    Parameters
    ----------
    input : Tensor
        Of a real dtype that is not bool.
    dim : int, optional
    keepdim : bool, optional
        Let the result have that dimension, of size 1.
    dtype : dtype, optional
        Of the result; by default, as in PyTorch, that of the input.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor
    """
    of_mask = filled("argmax", ordered("argmax", input), mask, lowest(input.dtype))
    return ops.argmax(of_mask, dim, bool(keepdim)).to(_of_result(input, dtype))


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Places of the least elements under a mask; see `argmax`."""
    of_mask = filled("argmin", ordered("argmin", input), mask, highest(input.dtype))
    return ops.argmin(of_mask, dim, bool(keepdim)).to(_of_result(input, dtype))


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Medians along a dimension of the elements under a mask, NaN where there are none.

    Parameters
    ----------
    input : Tensor
        Of a real dtype.
    dim : int, optional
    keepdim : bool, optional
        Let the result have that dimension, of size 1.
    dtype : dtype, optional
        Of the result for bools and integers; by default that of the input.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        No element counts, and the dtype has no NaN.
    """
    if input.is_complex():
        raise NotImplementedError(f"masked.median(): not defined for {input.dtype} tensors, which have no order")
    numbers = input if input.is_floating_point() else input.to(float32)
    of_mask = filled("median", numbers, mask, math.nan)
    found = ops.nanmedian(of_mask, place_of("median", dim, input.ndim), keepdim)[0]
    if input.is_floating_point():
        return found
    if ops.isnan(found).any():
        raise ValueError(
            f"masked.median(): expected an element that counts in every row, since {input.dtype} has no NaN"
        )
    return found.to(_of_result(input, dtype))


def _of_result(input: Tensor, dtype: DTypeLike | None) -> DTypeLike:
    return input.dtype if dtype is None else as_dtype(dtype, "masked")
