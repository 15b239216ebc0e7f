"""Functions along a dimension that may be left open, as in ``torch.nn.functional``."""

from __future__ import annotations

import warnings
from typing import Any

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor

__all__ = ["log_softmax", "softmax", "softmin"]


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Exponentials divided by their sum along a dimension.

    Parameters
    ----------
    input : Tensor
    dim : int, optional
        If it is left open: 0 for tensors of 0, 1 or 3 dimensions, 1 for others, and a warning.
    dtype : dtype, optional
        To which the input is converted first.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    IndexError
        There is no such dimension.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.softmax(gs.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return ops.softmax(input, _dim("softmax", input, dim, _stacklevel), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Logarithm of the softmax along a dimension, without overflow.

    Parameters
    ----------
    input : Tensor
    dim, dtype
        As those of `softmax`.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    IndexError
        There is no such dimension.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.log_softmax(gs.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return ops.log_softmax(input, _dim("log_softmax", input, dim, _stacklevel), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The softmax of the negated elements along a dimension.

    Parameters
    ----------
    input : Tensor
    dim, dtype
        As those of `softmax`.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    IndexError
        There is no such dimension.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.softmin(gs.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return ops.softmin(input, _dim("softmin", input, dim, _stacklevel), dtype)


def _dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.ndim in (0, 1, 3) else 1
