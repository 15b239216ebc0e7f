"""Images as the patches that they consist of."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module

__all__ = ["Fold", "Unfold"]

Sizes = Any  # an int, or one for each dimension


class Unfold(Module):
    """The patches of images, (images, channels, height, width), as columns.

    Parameters
    ----------
    kernel_size : int or tuple of int
        The size of the patches.
    dilation : int or tuple of int, optional
        The step between the elements of a patch.
    padding : int or tuple of int, optional
        Zeros added on both sides.
    stride : int or tuple of int, optional
        The step between patches.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Unfold(2)(gs.ones(1, 3, 4, 4)).shape
    (1, 12, 9)
    """

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.unfold`."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """The sum of patches, columns as `Unfold` gives them, at their places in images.

    Parameters
    ----------
    output_size : int or tuple of int
        The size of the images.
    kernel_size : int or tuple of int
        The size of the patches.
    dilation : int or tuple of int, optional
        The step between the elements of a patch.
    padding : int or tuple of int, optional
        Zeros added on both sides.
    stride : int or tuple of int, optional
        The step between patches.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Fold(4, 2)(gs.ones(1, 12, 9)).shape
    (1, 3, 4, 4)
    """

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.fold`."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )
