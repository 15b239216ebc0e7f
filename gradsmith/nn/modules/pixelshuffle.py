"""Channels moved into images, out of them, and among each other."""

from __future__ import annotations

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Channels become squares of elements of larger images.

    Parameters
    ----------
    upscale_factor : int
        The side of the squares.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.PixelShuffle(3)(gs.ones(1, 9, 4, 4)).shape
    (1, 1, 12, 12)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.pixel_shuffle`."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Squares of elements become channels of smaller images.

    Parameters
    ----------
    downscale_factor : int
        The side of the squares.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.PixelUnshuffle(3)(gs.ones(1, 1, 12, 12)).shape
    (1, 9, 4, 4)
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.pixel_unshuffle`."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels dealt out: one of each group after the other.

    Parameters
    ----------
    groups : int

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ChannelShuffle(2)(gs.arange(4.0).view(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.channel_shuffle`."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
