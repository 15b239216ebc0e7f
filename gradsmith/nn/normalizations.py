"""Normalizations that are more than one op: they keep running statistics, have a default by dtype, or refuse sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import rsqrt
from gradsmith.generated.normalization import divided_by_rms, scaled_about, standardized
from gradsmith.generated.normalization import group_norm as normalized_groups
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.history.saved_hooks import StopRecomputation

__all__ = ["batch_norm", "group_norm", "instance_norm", "native_batch_norm", "rms_norm"]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Elements less the mean of their channel, divided by its standard deviation; then scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Of shape (images, channels, *sizes).
    running_mean, running_var : Tensor or None
        Statistics of the channels, of shape (channels,). In training they are changed in place and go on by `momentum`
        towards those of the input; otherwise they take their place.
    weight, bias : Tensor, optional
        A factor and a term for each channel.
    training : bool, optional
        Take the statistics of the input.
    momentum : float or Tensor, optional
        The share of the input in the running statistics, or a tensor of one number.
    eps : float, optional
        What is added to variances.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    ValueError
        A channel has one element, which has no variance.
    RuntimeError
        The input has no channels, statistics are missing, or the size of an argument is not that of the channels.

    Notes
    -----
    Source: Ioffe and Szegedy, Batch Normalization, 2015. The running variance is the unbiased one.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.batch_norm(gs.tensor([[1.0, 5.0], [3.0, 5.0]]), None, None, training=True, eps=0.0625)
    tensor([[-0.9701,  0.0000],
            [ 0.9701,  0.0000]])
    """
    if input.ndim == 1 and input.numel() == 0:
        return input.clone()  # as PyTorch, which asks for channels where there are elements
    _expect_channels("batch_norm", input, running_mean, running_var, weight, bias)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm(): Expected running_mean and running_var to be defined when training=False")
        return _applied(input, running_mean, running_var, weight, bias, eps)
    if not eps > 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    count = input.numel() // max(input.shape[1], 1)
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(input.shape)}")
    dims = [dim for dim in range(input.ndim) if dim != 1]
    return _by_own_statistics(input, dims, count, running_mean, running_var, weight, bias, momentum, eps)


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.batch_norm`, and the statistics of the input that it used.

    Parameters
    ----------
    input, weight, bias, running_mean, running_var, training, momentum, eps
        As of `batch_norm`, in another order.

    Returns
    -------
    tuple of Tensor
        The result, and in training the mean of each channel and the inverse of its deviation, without history;
        otherwise two tensors without elements.
    """
    _expect_channels("native_batch_norm", input, running_mean, running_var, weight, bias)
    values = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return values, input.new_empty(0), input.new_empty(0)
    dims = [dim for dim in range(input.ndim) if dim != 1]
    found = input.detach()
    return values, found.mean(dims), rsqrt(found.var(dims, correction=0) + eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """As `batch_norm`, with the statistics of each channel of each image.

    Parameters
    ----------
    input : Tensor
        Of shape (images, channels, *sizes).
    running_mean, running_var, weight, bias, momentum, eps
        As those of `batch_norm`; the running statistics go towards the mean of those of the images.
    use_input_stats : bool, optional
        Take the statistics of the input, and not the running ones.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    ValueError
        Channels have one element each.
    RuntimeError
        As `batch_norm`.

    Notes
    -----
    Source: Ulyanov et al., Instance Normalization: The Missing Ingredient for Fast Stylization, 2016.
    """
    _expect_channels("instance_norm", input, running_mean, running_var, weight, bias)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "instance_norm(): Expected running_mean and running_var to be defined when use_input_stats=False"
            )
        return _applied(input, running_mean, running_var, weight, bias, eps)
    count = math.prod(input.shape[2:])
    if count == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {list(input.shape)}")
    dims = list(range(2, input.ndim))
    return _by_own_statistics(input, dims, count, running_mean, running_var, weight, bias, momentum, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Elements less the mean of their group of channels, divided by its standard deviation; then scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Of shape (images, channels, *sizes).
    num_groups : int
        How many groups the channels are divided into.
    weight, bias : Tensor, optional
        A factor and a term for each channel.
    eps : float, optional
        Is added to variances.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    ValueError
        Each group has one element only, so that all results would be zero.
    RuntimeError
        Sizes do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.functional.group_norm(gs.tensor([[1.0, 3.0, 5.0, 5.0]]), 2)
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])

    Notes
    -----
    Source: Wu and He, Group Normalization, 2018.
    """
    values = normalized_groups(input, num_groups, weight, bias, eps)
    images, channels, *sizes = input.shape
    rows = images * channels // num_groups
    if rows * math.prod(sizes) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {[rows, num_groups, *sizes]}"
        )
    return values


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Elements divided by the root of their mean square over the last dimensions, then scaled.

    Parameters
    ----------
    input : Tensor
        Of shape (*, *normalized_shape) and of a floating or complex dtype; squares of complex numbers are complex.
    normalized_shape : sequence of int
        The sizes of the last dimensions.
    weight : Tensor, optional
        Factors, of that shape.
    eps : float, optional
        What is added to mean squares; by default the distance from 1 to the next number of the dtype.

    Returns
    -------
    Tensor
        Of the shape of the input.

    Raises
    ------
    RuntimeError
        The last sizes of `input`, or those of `weight`, are not `normalized_shape`.

    Notes
    -----
    Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.rms_norm(gs.tensor([1.0, 7.0]), [2])
    tensor([0.2000, 1.4000])
    """
    if eps is None:
        eps = _rounding_of(input.dtype)
    return divided_by_rms(input, normalized_shape, weight, eps)


@cache
def _rounding_of(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


_NAMES = ("running_mean", "running_var", "weight", "bias")


def _expect_channels(op: str, input: Tensor, *factors: Tensor | None) -> None:
    shape = input.shape
    if len(shape) < 2 or not input.is_floating_point():
        raise RuntimeError(
            f"{op}(): expected a floating tensor of shape (images, channels, ...), but got {input.dtype} of size "
            f"{list(shape)}"
        )
    channels = shape[1:2]
    for place, factor in enumerate(factors):
        if factor is not None and factor.shape != channels:
            raise RuntimeError(
                f"{op}(): {_NAMES[place]} should contain {shape[1]} elements, one for each channel, but its size is "
                f"{list(factor.shape)}"
            )


def _per_channel(values: Any, input: Tensor) -> Any:
    """A tensor of one number for each channel, or None, so that it broadcasts with the input."""
    if values is None or input.ndim == 2:
        return values
    return values.reshape(-1, *[1] * (input.ndim - 2))


def _by_own_statistics(
    input: Tensor, dims: Sequence[int], count: int, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None, bias: Tensor | None, momentum: float | Tensor, eps: float,
) -> Tensor:  # fmt: skip
    """The result, with mean and variance along the dimensions; the running ones are a step on then."""
    running = (running_mean, running_var) if input.numel() else (None, None)  # nothing has no statistics
    try:
        values, mean, var = standardized(input, _per_channel(weight, input), _per_channel(bias, input), dims, eps, True)
    except StopRecomputation:  # raised where the op saves its tensors: each run of a checkpoint counts, as in PyTorch
        with no_grad():
            _, mean, var = standardized(input.detach(), None, None, dims, eps, True)
        _move_on(running, mean, var, count, input.shape[1], momentum)
        raise
    _move_on(running, mean, var, count, input.shape[1], momentum)
    return _of_dtype(values, input)


def _of_dtype(values: Tensor, input: Tensor) -> Tensor:
    """Factors of another dtype, such as float32 ones beside a float16 input, do not change that of the result."""
    return values if values.dtype == input.dtype else values.to(input.dtype)


def _move_on(
    running: tuple[Tensor | None, Tensor | None], mean: Tensor, var: Tensor, count: int, channels: int,
    momentum: float | Tensor,
) -> None:  # fmt: skip
    """Running mean and variance, by the statistics of `count` elements for each channel."""
    if running[0] is None and running[1] is None:
        return
    with no_grad():
        _move_towards(running[0], mean.detach(), channels, momentum)
        _move_towards(running[1], var.detach() * (count / max(count - 1, 1)), channels, momentum)


def _move_towards(running: Tensor | None, found: Tensor, channels: int, momentum: float | Tensor) -> None:
    if running is None:
        return
    of_channels = found.reshape(-1) if found.numel() == channels else found.reshape(-1, channels).mean(0)
    of_channels = of_channels.to(running.dtype)
    if isinstance(momentum, Tensor):  # of a batch normalization that averages over all batches; a program computes it
        running.mul_(1 - momentum).add_(of_channels * momentum)
    else:
        running.mul_(1 - momentum).add_(of_channels, alpha=momentum)


def _applied(
    input: Tensor, mean: Tensor, var: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """By statistics of channels that are given, in one pass over the input."""
    factor = rsqrt(var + eps)
    if weight is not None:
        factor = factor * weight
    term = mean.new_zeros(()) if bias is None else _per_channel(bias, input)
    return _of_dtype(scaled_about(input, _per_channel(mean, input), _per_channel(factor, input), term), input)
