"""The inverse of pooling by maxima."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.utils import _pair, _single, _triple

Sizes = Any  # an int, or one for each dimension


class MaxUnpoolNd(Module):
    """Settings of an unpooling: those of the pooling whose results and indices it takes.

    Parameters
    ----------
    kernel_size : int or tuple of int
    stride : int or tuple of int, optional
    padding : int or tuple of int, optional
    """

    sizes: Callable[[Any], tuple[Any, ...]]

    def __init__(self, kernel_size: Sizes, stride: Sizes = None, padding: Sizes = 0) -> None:
        super().__init__()
        sizes = type(self).sizes
        self.kernel_size = sizes(kernel_size)
        self.stride = sizes(kernel_size if stride is None else stride)
        self.padding = sizes(padding)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(MaxUnpoolNd):
    """Zeros, and the elements of the input at the places where `MaxPool1d` found them.

    See `MaxUnpoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> pooled, indices = gs.nn.MaxPool1d(2, return_indices=True)(gs.ones(1, 1, 4))
    >>> gs.nn.MaxUnpool1d(2)(pooled, indices).shape
    (1, 1, 4)
    """

    sizes = staticmethod(_single)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """See `nn.functional.max_unpool1d`."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(MaxUnpoolNd):
    """Zeros, and the elements of the input at the places where `MaxPool2d` found them.

    See `MaxUnpoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> pooled, indices = gs.nn.MaxPool2d(2, return_indices=True)(gs.ones(1, 1, 4, 4))
    >>> gs.nn.MaxUnpool2d(2)(pooled, indices).shape
    (1, 1, 4, 4)
    """

    sizes = staticmethod(_pair)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """See `nn.functional.max_unpool2d`."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(MaxUnpoolNd):
    """Zeros, and the elements of the input at the places where `MaxPool3d` found them.

    See `MaxUnpoolNd` for the parameters.

    Examples
    --------
    >>> import gradsmith as gs
    >>> pooled, indices = gs.nn.MaxPool3d(2, return_indices=True)(gs.ones(1, 1, 4, 4, 4))
    >>> gs.nn.MaxUnpool3d(2)(pooled, indices).shape
    (1, 1, 4, 4, 4)
    """

    sizes = staticmethod(_triple)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """See `nn.functional.max_unpool3d`."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
