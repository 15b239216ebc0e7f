"""Normalizations along a dimension by the elements under a mask."""

from __future__ import annotations

from numpy.typing import DTypeLike

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor
from gradsmith.masked.filling import filled, highest, lowest, ordered, place_of
from gradsmith.masked.sums import norm
from gradsmith.nn.softmaxes import softmin as whole_softmin

__all__ = ["log_softmax", "normalize", "softmax", "softmin"]


def softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """Exponentials of the elements under a mask, divided by their sum along a dimension; 0 outside of it.

    Parameters
    ----------
    input : Tensor
        Of a real dtype that is not bool.
    dim : int
    dtype : dtype, optional
        Of the result; by default that of the input.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor
        Of the shape of the input; NaN along a dimension where no element counts.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.masked.softmax(gs.tensor([0.0, 5.0, 0.0]), 0, mask=gs.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    of_mask = filled("softmax", ordered("softmax", input), mask, lowest(input.dtype))
    return ops.softmax(of_mask, place_of("softmax", dim, input.ndim), input.dtype if dtype is None else dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """Logarithms of `softmax`, whose parameters it has; minus infinity outside of the mask."""
    of_mask = filled("log_softmax", ordered("log_softmax", input), mask, lowest(input.dtype))
    return ops.log_softmax(of_mask, place_of("log_softmax", dim, input.ndim), input.dtype if dtype is None else dtype)


def softmin(input: Tensor, dim: int, *, dtype: DTypeLike | None = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative elements, whose parameters it has."""
    of_mask = filled("softmin", ordered("softmin", input), mask, highest(input.dtype))
    return whole_softmin(of_mask, place_of("softmin", dim, input.ndim), dtype=input.dtype if dtype is None else dtype)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DTypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements under a mask divided by their norm along a dimension; 0 outside of it.

    Parameters
    ----------
    input : Tensor
        Of a floating or complex dtype.
    ord : float
        Of the norm; see `norm`.
    dim : int
    eps : float, optional
        What smaller norms are taken for.
    dtype : dtype, optional
        Of the norm; by default that of the input.
    mask : Tensor, optional
        True where an element counts; it broadcasts to the input.

    Returns
    -------
    Tensor
        Of the shape of the input.
    """
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled("normalize", input, mask, 0) / ops.maximum(length, length.new_full((), eps))
