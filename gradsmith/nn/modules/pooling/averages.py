"""Means of windows, and their norms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.utils import _single

Sizes = Any  # an int, or one for each dimension


class AvgPoolNd(Module):
    """Settings of a pooling by means.

    Parameters
    ----------
    kernel_size : int or tuple of int
        The size of the windows.
    stride : int or tuple of int, optional
        The step between windows; their size when it is not given.
    padding : int or tuple of int, optional
        Zeros added on both sides.
    ceil_mode : bool, optional
        Whether windows may begin within the input and end beyond it.
    count_include_pad : bool, optional
        Whether the added zeros count as elements.
    divisor_override : int, optional
        Divides the sum of a window, in place of its number of elements.
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__({"padding": 0, "ceil_mode": False, "count_include_pad": True, **state})

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(AvgPoolNd):
    """The mean of each window of signals, (images, channels, length) or (channels, length).

    See `AvgPoolNd` for the parameters, all but the last.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AvgPool1d(3, stride=2)(gs.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    tensor([[2., 4.]])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        step = kernel_size if stride is None else stride
        super().__init__(_single(kernel_size), _single(step), _single(padding), ceil_mode, count_include_pad)

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.avg_pool1d`."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(AvgPoolNd):
    """The mean of each window of images, (images, channels, height, width) or (channels, height, width).

    See `AvgPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AvgPool2d(2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 2, 2)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.avg_pool2d`."""
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(AvgPoolNd):
    """The mean of each window of volumes, (images, channels, depth, height, width) or without the images.

    See `AvgPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AvgPool3d(2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.avg_pool3d`."""
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AdaptiveAvgPoolNd(Module):
    """Settings of a pooling by means to an output of a given size.

    Parameters
    ----------
    output_size : int or tuple of int
        The size of the output; None in a tuple keeps that of the input.
    """

    def __init__(self, output_size: Sizes) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(AdaptiveAvgPoolNd):
    """The means of as many windows as the output has elements, over signals.

    See `AdaptiveAvgPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AdaptiveAvgPool1d(3)(gs.ones(1, 1, 5)).shape
    (1, 1, 3)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.adaptive_avg_pool1d`."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(AdaptiveAvgPoolNd):
    """The means of as many windows as the output has elements, over images.

    See `AdaptiveAvgPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AdaptiveAvgPool2d(3)(gs.ones(1, 1, 5, 5)).shape
    (1, 1, 3, 3)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.adaptive_avg_pool2d`."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(AdaptiveAvgPoolNd):
    """The means of as many windows as the output has elements, over volumes.

    See `AdaptiveAvgPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.AdaptiveAvgPool3d(3)(gs.ones(1, 1, 5, 5, 5)).shape
    (1, 1, 3, 3, 3)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.adaptive_avg_pool3d`."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class LPPoolNd(Module):
    """Settings of a pooling by norms.

    Parameters
    ----------
    norm_type : float
        The exponent of the norm.
    kernel_size : int or tuple of int
        The size of the windows.
    stride : int or tuple of int, optional
        The step between windows; their size when it is not given.
    ceil_mode : bool, optional
        Whether windows may begin within the input and end beyond it.
    """

    def __init__(self, norm_type: float, kernel_size: Sizes, stride: Sizes = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(LPPoolNd):
    """The norm of each window of signals.

    See `LPPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LPPool1d(2, 2)(gs.ones(1, 1, 4)).shape
    (1, 1, 2)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.lp_pool1d`."""
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPoolNd):
    """The norm of each window of images.

    See `LPPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LPPool2d(2, 2)(gs.ones(1, 1, 4, 4)).shape
    (1, 1, 2, 2)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.lp_pool2d`."""
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(LPPoolNd):
    """The norm of each window of volumes.

    See `LPPoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LPPool3d(2, 2)(gs.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.lp_pool3d`."""
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
