"""Inputs of another size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """The input at more places, or fewer, by interpolation.

    Parameters
    ----------
    size : int or tuple of int, optional
        The sizes after the channels.
    scale_factor : float or tuple of float, optional
        Or their ratios to those of the input.
    mode : {"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"}, optional
    align_corners : bool, optional
        Whether the centres of the outermost elements lie at the same places.
    recompute_scale_factor : bool, optional
        Whether the ratios used are those of the sizes, which are whole numbers.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Upsample(scale_factor=2)(gs.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    scale_factor: Any

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.interpolate`."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__({"recompute_scale_factor": True, **state})

    def extra_repr(self) -> str:
        how = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{how}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images by their nearest elements.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.UpsamplingNearest2d(scale_factor=2)(gs.ones(1, 1, 2, 2)).shape
    (1, 1, 4, 4)
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images by linear interpolation between elements, with aligned corners.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.UpsamplingBilinear2d(size=3)(gs.tensor([[[[0.0, 2.0], [2.0, 4.0]]]]))
    tensor([[[[0., 1., 2.],
              [1., 2., 3.],
              [2., 3., 4.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
