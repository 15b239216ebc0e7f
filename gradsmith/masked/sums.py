"""Sums, products and norms of the elements under a mask, also as they grow along a dimension."""

from __future__ import annotations

import math

from numpy.typing import DTypeLike

import gradsmith.generated as ops
from gradsmith import linalg
from gradsmith.generated.tensor import Tensor
from gradsmith.masked.filling import Dims, counted, dims_of, filled, lowest, ordered, place_of
from gradsmith.runtime.arrays.dtypes import as_dtype, int64

__all__ = ["cumprod", "cumsum", "logaddexp", "logsumexp", "norm", "prod", "sum"]


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Sums of the elements under a mask, 0 where there are none.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of int, optional
        Along which dimensions; by default, and for ``()``, all.
    keepdim : bool, optional
        Let the result have these dimensions, of size 1.
    dtype : dtype, optional
        Of the result. By default that of the input, or int64 for bools and integers.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.masked.sum(gs.tensor([1.0, 2.0, 4.0]), mask=gs.tensor([True, False, True]))
    tensor(5.)
    """
    of_mask = filled("sum", input, mask, 0)
    dims = dims_of("sum", dim, input.ndim)
    return ops.sum(of_mask, dims, bool(keepdim), dtype=_of_sums(input, dtype))


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Products of the elements under a mask, 1 where there are none; see `sum` for the parameters."""
    result = filled("prod", input, mask, 1).to(_of_sums(input, dtype))
    for each in reversed(dims_of("prod", dim, input.ndim)):
        result = result.prod(each, bool(keepdim))
    return result


def cumsum(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """Sums of the elements under a mask up to each place along a dimension.

    Parameters
    ----------
    input : Tensor
    dim : int
    dtype : dtype, optional
        Of the result; by default that of the input.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor
        Of the shape of the input, also where elements do not count.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.masked.cumsum(gs.tensor([1.0, 2.0, 4.0]), 0, mask=gs.tensor([True, False, True]))
    tensor([1., 1., 5.])
    """
    of_mask = filled("cumsum", input, mask, 0)
    return ops.cumsum(of_mask, place_of("cumsum", dim, input.ndim), dtype=_of_result(input, dtype))


def cumprod(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """Products of the elements under a mask up to each place along a dimension; see `cumsum` for the parameters."""
    of_mask = filled("cumprod", input, mask, 1)
    return ops.cumprod(of_mask, place_of("cumprod", dim, input.ndim), dtype=_of_result(input, dtype))


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Norms of the vectors of the elements under a mask, 0 where there are none.

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype.
    ord : float, optional
        Of `linalg.vector_norm`. Where it is minus infinity, the norm of no elements is infinity.
    dim, keepdim, dtype, mask
        As of `sum`.

    Returns
    -------
    Tensor
    """
    of_mask = filled("norm", input, mask, math.inf if ord == -math.inf else 0)
    dims = dims_of("norm", dim, input.ndim)
    return linalg.vector_norm(of_mask, 2.0 if ord is None else ord, dims, bool(keepdim), dtype=_of_result(input, dtype))


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Logarithms of sums of exponentials of the elements under a mask, minus infinity where there are none.

    The parameters are those of `sum`; the dtype is by default that of the input.
    """
    of_mask = filled("logsumexp", input, mask, lowest(input.dtype))
    found = ops.logsumexp(of_mask, dims_of("logsumexp", dim, input.ndim), bool(keepdim))
    return found.to(_of_result(input, dtype))


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DTypeLike | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """Logarithms of sums of two exponentials, of which those outside of a mask are 0.

    Parameters
    ----------
    input, other : Tensor
        Of real dtypes.
    dtype : dtype, optional
        Of the result.
    input_mask, other_mask : Tensor, optional
        True where an element of either counts.

    Returns
    -------
    Tensor
    """
    first = counted("logaddexp", ordered("logaddexp", input), input_mask, "input_mask")
    second = counted("logaddexp", ordered("logaddexp", other), other_mask, "other_mask")
    both = first & second  # an infinity for what does not count would have slopes that are NaN
    found = ops.logaddexp(ops.where(both, input, 0), ops.where(both, other, 0))
    alone = ops.where(first, input, ops.where(second, other, lowest(found.dtype)))
    result = ops.where(both, found, alone)
    return result if dtype is None else result.to(_of_result(input, dtype))


def _of_sums(input: Tensor, dtype: DTypeLike | None) -> DTypeLike:
    if dtype is None and input.dtype.kind in "biu":
        return int64
    return _of_result(input, dtype)


def _of_result(input: Tensor, dtype: DTypeLike | None) -> DTypeLike:
    return input.dtype if dtype is None else as_dtype(dtype, "masked")
