"""Convolutions whose `in_channels` are those of the first input."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.conv.base import Sizes
from gradsmith.nn.modules.conv.plain import Conv1d, Conv2d, Conv3d
from gradsmith.nn.modules.conv.transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from gradsmith.nn.modules.lazy import LazyModuleMixin
from gradsmith.nn.parameter import UninitializedParameter


class LazyConvMixin(LazyModuleMixin):
    """Base class of lazy convolutions."""

    def _wait_for_channels(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """Draw the parameters anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the shapes that the input asks for."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(self._weight_shape())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self: Any, input: Tensor) -> int:
        if input.ndim not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-self.dims - 1]  # type: ignore[no-any-return]

    def _get_num_spatial_dims(self: Any) -> int:
        return self.dims  # type: ignore[no-any-return]


class LazyConvolution(LazyConvMixin):
    """The constructor of the lazy convolutions."""

    def __init__(
        self,
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
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._wait_for_channels(out_channels, bias, device, dtype)


class LazyTransposedConvolution(LazyConvMixin):
    """The constructor of the lazy transposed convolutions."""

    def __init__(
        self,
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
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype
        )
        self._wait_for_channels(out_channels, bias, device, dtype)


class LazyConv1d(LazyConvolution, Conv1d):
    """`Conv1d` whose `in_channels` are those of the first input.

    Takes the parameters of `Conv1d`, without the first.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyConv1d(4, kernel_size=2)
    >>> layer(gs.ones(1, 3, 5)).shape
    (1, 4, 4)
    """

    cls_to_become = Conv1d


class LazyConv2d(LazyConvolution, Conv2d):
    """`Conv2d` whose `in_channels` are those of the first input.

    Takes the parameters of `Conv2d`, without the first.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyConv2d(4, kernel_size=2)
    >>> layer(gs.ones(1, 3, 5, 5)).shape
    (1, 4, 4, 4)
    """

    cls_to_become = Conv2d


class LazyConv3d(LazyConvolution, Conv3d):
    """`Conv3d` whose `in_channels` are those of the first input.

    Takes the parameters of `Conv3d`, without the first.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyConv3d(4, kernel_size=2)
    >>> layer(gs.ones(1, 3, 5, 5, 5)).shape
    (1, 4, 4, 4, 4)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(LazyTransposedConvolution, ConvTranspose1d):
    """`ConvTranspose1d` whose `in_channels` are those of the first input.

    Takes the parameters of `ConvTranspose1d`, without the first.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyConvTranspose1d(4, kernel_size=2)
    >>> layer(gs.ones(1, 3, 5)).shape
    (1, 4, 6)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(LazyTransposedConvolution, ConvTranspose2d):
    """`ConvTranspose2d` whose `in_channels` are those of the first input.

    Takes the parameters of `ConvTranspose2d`, without the first.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyConvTranspose2d(4, kernel_size=2)
    >>> layer(gs.ones(1, 3, 5, 5)).shape
    (1, 4, 6, 6)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(LazyTransposedConvolution, ConvTranspose3d):
    """`ConvTranspose3d` whose `in_channels` are those of the first input.

    Takes the parameters of `ConvTranspose3d`, without the first.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.LazyConvTranspose3d(4, kernel_size=2)
    >>> layer(gs.ones(1, 3, 5, 5, 5)).shape
    (1, 4, 6, 6, 6)
    """

    cls_to_become = ConvTranspose3d
