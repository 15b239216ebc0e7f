"""Softmax and its relatives."""

from __future__ import annotations

import warnings

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module


class _AlongDimension(Module):
    """The constructor that the three have in common.

    Parameters
    ----------
    dim : int, optional
        The dimension along which elements sum to one. Without it one is guessed, with a warning.
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"

    def _dim(self, name: str, input: Tensor) -> int:
        if self.dim is not None:
            return self.dim
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
            "argument.",
            stacklevel=4,
        )
        return 0 if input.ndim in (0, 1, 3) else 1


class Softmax(_AlongDimension):
    """Exponentials of the elements, divided by their sum along a dimension.

    Parameters
    ----------
    dim : int, optional
        The dimension along which elements are compared. Without it one is guessed, with a warning.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Softmax(dim=0)(gs.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.softmax`."""
        return F.softmax(input, self._dim("softmax", input))


class Softmin(_AlongDimension):
    """`Softmax` of the negative elements.

    Parameters
    ----------
    dim : int, optional
        The dimension along which elements are compared. Without it one is guessed, with a warning.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Softmin(dim=0)(gs.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.softmin`."""
        return F.softmin(input, self._dim("softmin", input))


class LogSoftmax(_AlongDimension):
    """The logarithm of `Softmax`.

    Parameters
    ----------
    dim : int, optional
        The dimension along which elements are compared. Without it one is guessed, with a warning.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.LogSoftmax(dim=0)(gs.tensor([0.0, 0.0]))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.log_softmax`."""
        return F.log_softmax(input, self._dim("log_softmax", input))


class Softmax2d(Module):
    """`Softmax` over the channels of images, (images, channels, height, width) or (channels, height, width).

    Raises
    ------
    ValueError
        In a call, that the input has another number of dimensions.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Softmax2d()(gs.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.softmax`."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)
