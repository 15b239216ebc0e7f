"""Activations that change their argument, as functions: ``relu_(x)`` is ``x.relu_()``. And one that may."""

from __future__ import annotations

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor

__all__ = ["celu_", "elu_", "hardtanh", "hardtanh_", "leaky_relu_", "relu_", "selu_", "threshold_"]


def relu_(input: Tensor) -> Tensor:
    """Replace negative elements by zero, in place.

    Parameters
    ----------
    input : Tensor

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.relu_()


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Replace negative elements by ``alpha * (exp(x) - 1)``, in place.

    Parameters
    ----------
    input : Tensor
    alpha : float, default 1.0

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.elu_(alpha)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Replace negative elements by ``alpha * (exp(x / alpha) - 1)``, in place.

    Parameters
    ----------
    input : Tensor
    alpha : float, default 1.0
        Any number but zero.

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.celu_(alpha)


def selu_(input: Tensor) -> Tensor:
    """Replace each element by its scaled exponential linear unit, in place.

    Parameters
    ----------
    input : Tensor

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.selu_()


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Multiply negative elements by `negative_slope`, in place.

    Parameters
    ----------
    input : Tensor
    negative_slope : float, default 0.01

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.leaky_relu_(negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limit the elements to the range from `min_val` to `max_val`.

    Parameters
    ----------
    input : Tensor
    min_val, max_val : float, default -1.0 and 1.0
    inplace : bool, optional
        Change the input, and return it.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    ValueError
        The range is empty.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.functional.hardtanh(gs.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError(f"hardtanh(): min_val cannot be greater than max_val, but they are {min_val} and {max_val}")
    return ops.hardtanh(input, min_val, max_val, inplace)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Limit the elements to the range from `min_val` to `max_val`, in place.

    Parameters
    ----------
    input : Tensor
    min_val, max_val : float, default -1.0 and 1.0

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.hardtanh_(min_val, max_val)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Replace elements that are not greater than `threshold` by `value`, in place.

    Parameters
    ----------
    input : Tensor
    threshold, value : float

    Returns
    -------
    Tensor
        `input` itself.
    """
    return input.threshold_(threshold, value)
