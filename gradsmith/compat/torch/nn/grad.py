"""Gradients of convolutions as functions of their own: a convolution is linear in its input, and in its weight.

They can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.autograd.grad_mode import enable_grad
from gradsmith.autograd.gradients import grad
from gradsmith.generated.convolutions import conv1d, conv2d, conv3d
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.runtime.tensors.factories.creation import zeros

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

Sizes = int | Sequence[int]


def _to_input(
    conv: Callable[..., Tensor], input_size: Sequence[int], weight: Tensor, grad_output: Tensor, *options: Any
) -> Tensor:
    start = zeros(input_size, dtype=weight.dtype, device=weight.device, requires_grad=True)
    return _gradient(lambda: conv(start, weight, None, *options), start, grad_output)


def _to_weight(
    conv: Callable[..., Tensor], input: Tensor, weight_size: Sequence[int], grad_output: Tensor, *options: Any
) -> Tensor:
    start = zeros(weight_size, dtype=input.dtype, device=input.device, requires_grad=True)
    return _gradient(lambda: conv(input, start, None, *options), start, grad_output)


def _gradient(result: Callable[[], Tensor], start: Tensor, grad_output: Tensor) -> Tensor:
    """The gradient for zeros, which is that for anything else."""
    differentiable = is_grad_enabled()
    found: Tensor
    with enable_grad():
        (found,) = grad(result(), start, grad_output, create_graph=differentiable)
    return found


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv1d` for its input, of the given size, where `grad_output` is that of the result."""
    return _to_input(conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv1d` for its weight, of the given size, where `grad_output` is that of the result."""
    return _to_weight(conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv2d` for its input; see `conv1d_input`."""
    return _to_input(conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv2d` for its weight; see `conv1d_weight`."""
    return _to_weight(conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv3d` for its input; see `conv1d_input`."""
    return _to_input(conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of `conv3d` for its weight; see `conv1d_weight`."""
    return _to_weight(conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)
