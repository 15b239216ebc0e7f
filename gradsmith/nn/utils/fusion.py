"""A layer and the batch normalization after it as one layer, for use without training."""

from __future__ import annotations

import copy
from typing import Any

from gradsmith.generated import rsqrt
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import ones_like, zeros_like

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that computes what `conv`, and then `bn`, computes; neither may be in training.

    Raises
    ------
    AssertionError
        One of them is in training, or there are no running statistics.

    Examples
    --------
    >>> import gradsmith as gs
    >>> conv, bn = gs.nn.Conv2d(1, 2, 3).eval(), gs.nn.BatchNorm2d(2).eval()
    >>> x = gs.ones(1, 1, 4, 4)
    >>> gs.allclose(gs.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
    True
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of `fuse_conv_bn_eval`, of those of both layers and the running statistics."""
    channel = 1 if transpose else 0
    shape = [-1 if dim == channel else 1 for dim in range(conv_w.ndim)]
    return _fused(conv_w, conv_b, shape, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that computes what `linear`, and then `bn`, computes; see `fuse_conv_bn_eval`."""
    _check(linear, bn)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None = None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of `fuse_linear_bn_eval`, of those of both layers and the running statistics."""
    return _fused(linear_w, linear_b, [-1, 1], bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(
    weight: Tensor, bias: Tensor | None, shape: list[int], mean: Tensor, variance: Tensor, eps: float,
    bn_weight: Tensor | None, bn_bias: Tensor | None,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    scale = rsqrt(variance + eps) * (ones_like(mean) if bn_weight is None else bn_weight)
    before = zeros_like(mean) if bias is None else bias
    after = (before - mean) * scale + (zeros_like(mean) if bn_bias is None else bn_bias)
    learned = weight.requires_grad
    fused_weight = (weight * scale.reshape(shape)).to(weight.dtype).detach()
    fused_bias = after.to(weight.dtype if bias is None else bias.dtype).detach()
    return Parameter(fused_weight, learned), Parameter(fused_bias, learned if bias is None else bias.requires_grad)


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
