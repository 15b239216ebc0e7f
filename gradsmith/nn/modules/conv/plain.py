"""Convolutions of signals, images and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.conv.base import ConvNd, Sizes
from gradsmith.nn.modules.utils import _ntuple


class Convolution(ConvNd):
    """The constructor that the three have in common, and what they compute."""

    dims: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        sizes = _ntuple(self.dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            padding if isinstance(padding, str) else sizes(padding),
            sizes(dilation),
            False,
            sizes(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input; see `nn.functional.conv2d` and its relatives."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        raise NotImplementedError

    def _convolved(self, function: Callable[..., Tensor], input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """`function` of the input; padding by anything but zeros comes before it."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(Convolution):
    """Convolution of signals, (images, channels, length) or (channels, length).

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output.
    kernel_size : int or tuple of int
    stride, dilation : int or tuple of int, optional
        Steps of the kernel over the input, and of its elements.
    padding : int, tuple of int, "same" or "valid", optional
        Elements added on both sides.
    groups : int, optional
        Groups of channels, each convolved for itself.
    bias : bool, optional
        Whether there is a bias.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}, optional
        What is added.
    device, dtype : optional
        Those of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (out_channels, in_channels / groups, *kernel_size), at first uniform up to
        ``1 / sqrt(in_channels / groups * prod(kernel_size))``, as the bias.
    bias : Parameter or None
        Of shape (out_channels,).

    Raises
    ------
    ValueError
        Channels cannot be divided into the groups, or padding and stride do not go together.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Conv1d(3, 4, kernel_size=3, stride=2)(gs.ones(1, 3, 9)).shape
    (1, 4, 4)
    """

    dims = 1

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv1d, input, weight, bias)


class Conv2d(Convolution):
    """Convolution of images, (images, channels, height, width) or (channels, height, width).

    See `Conv1d` for parameters and attributes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.Conv2d(3, 4, kernel_size=3, padding=1)
    >>> layer(gs.ones(2, 3, 8, 8)).shape
    (2, 4, 8, 8)
    >>> layer
    Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    """

    dims = 2

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv2d, input, weight, bias)


class Conv3d(Convolution):
    """Convolution of volumes, (images, channels, depth, height, width) or without the images.

    See `Conv1d` for parameters and attributes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Conv3d(1, 2, kernel_size=2)(gs.ones(1, 1, 3, 3, 3)).shape
    (1, 2, 2, 2, 2)
    """

    dims = 3

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return self._convolved(F.conv3d, input, weight, bias)
