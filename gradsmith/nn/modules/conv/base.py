"""Base class of all convolutions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gradsmith.nn import init
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.utils import _reverse_repeat_tuple
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.tensors.factories.creation import empty

Sizes = Any  # an int, or one for each dimension

PADDINGS = ("same", "valid")
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class ConvNd(Module):
    """Parameters and settings of a convolution; classes over it compute.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size, stride, dilation, output_padding : tuple of int
    padding : tuple of int, "same" or "valid"
    transposed : bool
    groups : int
    bias : bool
    padding_mode : {"zeros", "reflect", "replicate", "circular"}
    device, dtype : optional
        Those of the parameters.

    Raises
    ------
    ValueError
        Channels cannot be divided into the groups, or padding and stride do not go together.
    """

    __constants__ = (
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    )  # fmt: skip
    padding: Any
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _as_pad_takes_it(padding, kernel_size, dilation)
        self.weight = Parameter(empty(self._weight_shape(), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        if self.transposed:
            return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw the parameters anew: uniformly, up to ``1 / sqrt(groups of in_channels * places of the kernel)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(inputs) if inputs > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def extra_repr(self) -> str:
        n = len(self.kernel_size)
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding}" if self.padding != (0,) * n else "",
            f"dilation={self.dilation}" if self.dilation != (1,) * n else "",
            f"output_padding={self.output_padding}" if self.output_padding != (0,) * n else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
            f"padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "",
        ]
        return ", ".join(filter(None, parts))


def _check(in_channels: int, out_channels: int, groups: int, padding: Any, stride: Any, padding_mode: str) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in PADDINGS:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {PADDINGS}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")


def _as_pad_takes_it(padding: Any, kernel_size: tuple[int, ...], dilation: tuple[int, ...]) -> tuple[int, ...]:
    """Elements before and after each dimension, from the last dimension to the first."""
    if padding == "valid":
        return (0, 0) * len(kernel_size)
    if padding != "same":
        return _reverse_repeat_tuple(padding, 2)
    totals = [step * (size - 1) for step, size in zip(dilation, kernel_size)]
    return tuple(part for total in reversed(totals) for part in (total // 2, total - total // 2))
