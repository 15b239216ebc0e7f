"""Random parts of the input set to zero, in training."""

from __future__ import annotations

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """Settings of dropout.

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeros instead of random elements, in training; the others are divided by how many remain on average.

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.Dropout(p=0.25).eval()
    >>> bool((layer(gs.ones(2, 3)) == 1.0).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.dropout`."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Zeros instead of random channels of signals, (images, channels, length) or (channels, length).

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.Dropout1d(p=0.25).eval()
    >>> bool((layer(gs.ones(2, 3, 4)) == 1.0).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.dropout1d`."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zeros instead of random channels of images, (images, channels, height, width).

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.Dropout2d(p=0.25).eval()
    >>> bool((layer(gs.ones(2, 3, 4, 4)) == 1.0).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.dropout2d`."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zeros instead of random channels of volumes, (images, channels, depth, height, width).

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.Dropout3d(p=0.25).eval()
    >>> bool((layer(gs.ones(2, 3, 4, 4, 4)) == 1.0).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.dropout3d`."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance, for networks with `SELU`.

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.AlphaDropout(p=0.25).eval()
    >>> bool((layer(gs.ones(2, 3)) == 1.0).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.alpha_dropout`."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels.

    Parameters
    ----------
    p : float, optional
        The probability of a zero.
    inplace : bool, optional
        Change the input itself.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.FeatureAlphaDropout(p=0.25).eval()
    >>> bool((layer(gs.ones(2, 3, 4, 4)) == 1.0).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """See `nn.functional.feature_alpha_dropout`."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
