"""Transposed convolutions: what a convolution's gradient does to its input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.conv.base import ConvNd, Sizes
from gradsmith.nn.modules.utils import _ntuple


class ConvTransposeNd(ConvNd):
    """A transposed convolution's parameters and settings; see `ConvNd`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int],
    ) -> Sequence[int]:
        """Output padding that gives the requested size: with a stride, several sizes are possible."""
        if output_size is None:
            return self.output_padding
        outer = 2 if input.ndim == num_spatial_dims + 2 else 1
        wanted = list(output_size[outer:] if len(output_size) == outer + num_spatial_dims else output_size)
        if len(wanted) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.ndim}D input, output_size must have {num_spatial_dims} "
                f"or {outer + num_spatial_dims} elements (got {len(wanted)})"
            )
        smallest = [
            (size - 1) * step - 2 * pad + gap * (kernel - 1) + 1
            for size, step, pad, gap, kernel in zip(input.shape[outer:], stride, padding, dilation, kernel_size)
        ]
        largest = [size + step - 1 for size, step in zip(smallest, stride)]
        if any(not low <= size <= high for low, size, high in zip(smallest, wanted, largest)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {smallest} to {largest} (for an "
                f"input of {input.shape[2:]})"
            )
        return [size - low for size, low in zip(wanted, smallest)]


class TransposedConvolution(ConvTransposeNd):
    """The constructor that the three have in common, and what they compute."""

    dims: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        sizes = _ntuple(self.dims)
        super().__init__(
            in_channels, out_channels, sizes(kernel_size), sizes(stride), sizes(padding), sizes(dilation), True,
            sizes(output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _convolved(self, function: Callable[..., Tensor], input: Tensor, output_size: Sequence[int] | None) -> Tensor:
        added = self._output_padding(
            input,
            output_size,
            self.stride,
            self.padding,
            self.kernel_size,
            self.dims,
            self.dilation,
        )
        return function(input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation)


class ConvTranspose1d(TransposedConvolution):
    """Transposed convolution of signals, (images, channels, length) or (channels, length).

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output.
    kernel_size : int or tuple of int
    stride, dilation : int or tuple of int, optional
        Steps of the input over the output, and of the kernel's elements.
    padding : int or tuple of int, optional
        Elements removed from both sides of the output.
    output_padding : int or tuple of int, optional
        Elements added to one side of the output.
    groups : int, optional
        Groups of channels, each convolved for itself.
    bias : bool, optional
        Whether there is a bias.
    padding_mode : {"zeros"}, optional
    device, dtype : optional
        Those of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (in_channels, out_channels / groups, *kernel_size), at first uniform up to
        ``1 / sqrt(out_channels / groups * prod(kernel_size))``, as the bias.
    bias : Parameter or None
        Of shape (out_channels,).

    Raises
    ------
    ValueError
        Channels cannot be divided into the groups; in a call, that the output cannot have the size that is asked for.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.ConvTranspose1d(3, 4, kernel_size=3, stride=2)
    >>> layer(gs.ones(1, 3, 4)).shape, layer(gs.ones(1, 3, 4), output_size=[10]).shape
    ((1, 4, 9), (1, 4, 10))
    """

    dims = 1

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """See `nn.functional.conv_transpose1d`; `output_size` decides among the sizes that a stride leaves open."""
        return self._convolved(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(TransposedConvolution):
    """Transposed convolution of images, (images, channels, height, width) or (channels, height, width).

    See `ConvTranspose1d` for parameters and attributes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ConvTranspose2d(3, 4, kernel_size=2, stride=2)(gs.ones(1, 3, 4, 4)).shape
    (1, 4, 8, 8)
    """

    dims = 2

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """See `nn.functional.conv_transpose2d`; `output_size` decides among the sizes that a stride leaves open."""
        return self._convolved(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(TransposedConvolution):
    """Transposed convolution of volumes, (images, channels, depth, height, width) or without the images.

    See `ConvTranspose1d` for parameters and attributes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.ConvTranspose3d(1, 2, kernel_size=2)(gs.ones(1, 1, 3, 3, 3)).shape
    (1, 2, 4, 4, 4)
    """

    dims = 3

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """See `nn.functional.conv_transpose3d`; `output_size` decides among the sizes that a stride leaves open."""
        return self._convolved(F.conv_transpose3d, input, output_size)
