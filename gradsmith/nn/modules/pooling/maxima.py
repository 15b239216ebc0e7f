"""The largest elements of windows."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module

Sizes = Any  # an int, or one for each dimension


class MaxPoolNd(Module):
    """Settings of a pooling by maxima.

    Parameters
    ----------
    kernel_size : int or tuple of int
        The size of the windows.
    stride : int or tuple of int, optional
        The step between windows; their size when it is not given.
    padding : int or tuple of int, optional
        Elements added on both sides, which are never the largest.
    dilation : int or tuple of int, optional
        The step between the elements of a window.
    return_indices : bool, optional
        Whether the places of the largest elements are a second result, as `MaxUnpool2d` takes them.
    ceil_mode : bool, optional
        Whether windows may begin within the input and end beyond it.
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(MaxPoolNd):
    """The largest element of each window of signals, (images, channels, length) or (channels, length).

    See `MaxPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MaxPool1d(2)(gs.ones(1, 1, 4)).shape
    (1, 1, 2)
    """

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.max_pool1d`."""
        return F.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool2d(MaxPoolNd):
    """The largest element of each window of images, (images, channels, height, width) or (channels, height, width).

    See `MaxPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MaxPool2d(2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 2, 2)
    """

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.max_pool2d`."""
        return F.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool3d(MaxPoolNd):
    """The largest element of each window of volumes, (images, channels, depth, height, width) or without the images.

    See `MaxPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MaxPool3d(2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.max_pool3d`."""
        return F.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class AdaptiveMaxPoolNd(Module):
    """Settings of a pooling by maxima to an output of a given size.

    Parameters
    ----------
    output_size : int or tuple of int
        The size of the output; None in a tuple keeps that of the input.
    return_indices : bool, optional
        Whether the places of the largest elements are a second result.
    """

    def __init__(self, output_size: Sizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(AdaptiveMaxPoolNd):
    """The largest elements of as many windows as the output has elements, over signals.

    See `AdaptiveMaxPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AdaptiveMaxPool1d(3)(gs.ones(1, 1, 5)).shape
    (1, 1, 3)
    """

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.adaptive_max_pool1d`."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(AdaptiveMaxPoolNd):
    """The largest elements of as many windows as the output has elements, over images.

    See `AdaptiveMaxPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AdaptiveMaxPool2d(3)(gs.ones(1, 1, 5, 5)).shape
    (1, 1, 3, 3)
    """

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.adaptive_max_pool2d`."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(AdaptiveMaxPoolNd):
    """The largest elements of as many windows as the output has elements, over volumes.

    See `AdaptiveMaxPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AdaptiveMaxPool3d(3)(gs.ones(1, 1, 5, 5, 5)).shape
    (1, 1, 3, 3, 3)
    """

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.adaptive_max_pool3d`."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
