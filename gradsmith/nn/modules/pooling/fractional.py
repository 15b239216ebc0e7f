"""Pooling over windows whose places are random."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.utils import _ntuple

Sizes = Any  # an int, or one for each dimension


class _FractionalMaxPool(Module):
    """The constructor that both have in common."""

    dims: int
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        values = _ntuple(self.dims)
        name = type(self).__name__
        if any(size <= 0 for size in values(kernel_size)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all(0 < ratio < 1 for ratio in values(output_ratio)):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.kernel_size = values(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else values(output_size)
        self.output_ratio = None if output_ratio is None else values(output_ratio)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest element of each window of images, (images, channels, height, width) or (channels, height, width).

    Parameters
    ----------
    kernel_size : int or tuple of int
        The size of the windows.
    output_size : int or tuple of int, optional
        How many windows there are.
    output_ratio : float or tuple of float, optional
        Or what part of the size of the input that is.
    return_indices : bool, optional
        Whether the places of the largest elements are a second result.

    Raises
    ------
    ValueError
        Neither size nor ratio is given, or both, or a ratio is not between 0 and 1.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.FractionalMaxPool2d(2, output_size=3)(gs.ones(1, 1, 7, 7)).shape
    (1, 1, 3, 3)
    """

    dims = 2

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.fractional_max_pool2d`."""
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest element of each window of volumes, (images, channels, depth, height, width) or without the images.

    Parameters
    ----------
    kernel_size : int or tuple of int
        The size of the windows.
    output_size : int or tuple of int, optional
        How many windows there are.
    output_ratio : float or tuple of float, optional
        Or what part of the size of the input that is.
    return_indices : bool, optional
        Whether the places of the largest elements are a second result.

    Raises
    ------
    ValueError
        Neither size nor ratio is given, or both, or a ratio is not between 0 and 1.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.FractionalMaxPool3d(2, output_size=3)(gs.ones(1, 1, 7, 7, 7)).shape
    (1, 1, 3, 3, 3)
    """

    dims = 3

    def forward(self, input: Tensor) -> Any:
        """See `nn.functional.fractional_max_pool3d`."""
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )
