"""Means and variances of the elements under a mask."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor
from gradsmith.masked.filling import Dims, counted, dims_of, filled, whole_mask
from gradsmith.runtime.arrays.dtypes import as_dtype, float32

__all__ = ["mean", "std", "var"]


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Means of the elements under a mask, NaN where there are none.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of int, optional
        Along which dimensions; by default, and for ``()``, all.
    keepdim : bool, optional
        Let the result have these dimensions, of size 1.
    dtype : dtype, optional
        Of the result; by default that of the input, which bools and integers cannot have.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        The dtype is not floating or complex.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.masked.mean(gs.tensor([1.0, 2.0, 4.0]), mask=gs.tensor([True, False, True]))
    tensor(2.5000)
    """
    wanted = input.dtype if dtype is None else as_dtype(dtype, "masked.mean")
    if wanted.kind not in "fc":
        raise ValueError(
            f"masked.mean(): expected a floating or complex dtype, got {wanted}; give dtype=gradsmith.float32"
        )
    dims = dims_of("mean", dim, input.ndim)
    total = ops.sum(filled("mean", input, mask, 0), dims, bool(keepdim), dtype=wanted)
    return total / _count("mean", input, mask, dims, bool(keepdim))


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Variances of the elements under a mask, NaN where there are none.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of int, optional
        Along which dimensions; by default, and for ``()``, all.
    unbiased : bool, optional
        Divide by the count less 1, as by default, or by the count.
    correction : float, optional
        In place of `unbiased`, what is subtracted from the count.
    keepdim : bool, optional
        Let the result have these dimensions, of size 1.
    dtype : dtype, optional
        Of the result; by default that of the input, or float32 for bools and integers.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor
    """
    return _variance("var", input, dim, unbiased, correction, bool(keepdim), dtype, mask)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Standard deviations of the elements under a mask, NaN where there are none; see `var` for the parameters."""
    return _variance("std", input, dim, unbiased, correction, bool(keepdim), dtype, mask).sqrt()


def _variance(
    op: str,
    input: Tensor,
    dim: Dims,
    unbiased: bool | None,
    correction: float | None,
    keepdim: bool,
    dtype: DTypeLike | None,
    mask: Tensor | None,
) -> Tensor:
    if unbiased is not None and correction is not None:
        raise AssertionError(f"masked.{op}(): Only one of unbiased and correction may be given")
    less = correction if correction is not None else 1.0 if unbiased is None or unbiased else 0.0
    wanted = _floating(input.dtype) if dtype is None else as_dtype(dtype, f"masked.{op}")
    dims = dims_of(op, dim, input.ndim)
    inside = filled(op, input, mask, 0)  # before the differences, which would be NaN for what is not finite
    apart = inside - ops.sum(inside, dims, True, dtype=wanted) / _count(op, input, mask, dims, True)
    squares = filled(op, apart * apart.conj(), None if mask is None else whole_mask(op, input, mask), 0)
    total = ops.sum(squares, dims, keepdim, dtype=_floating(wanted))
    count = _count(op, input, mask, dims, keepdim)
    if less:
        count = (count.to(total.real.dtype) - less).clamp(min=0)
    return (total / count).to(wanted)


def _count(op: str, input: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    return ops.sum(counted(op, input, mask), dims, keepdim)


def _floating(dtype: Any) -> Any:
    return dtype if dtype.kind in "fc" else float32
