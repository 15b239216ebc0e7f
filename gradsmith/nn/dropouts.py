"""Dropout, with the arguments that ``torch.nn.functional`` has for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradsmith.generated.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

SATURATION = 1.7580993408473766  # minus the value to which selu goes, scale * alpha; from Klambauer et al., 2017


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros instead of a random part of the elements; the others are divided by how many remain on average.

    Parameters
    ----------
    input : Tensor
        Of any shape and of a floating or complex dtype.
    p : float, optional
        The probability of a zero.
    training : bool, optional
        Without it the result is the input.
    inplace : bool, optional
        Change the input itself.

    Returns
    -------
    Tensor
        Of the shape and dtype of the input.

    Raises
    ------
    ValueError
        `p` is no probability.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.dropout(gs.ones(3), p=0.0)
    tensor([1., 1., 1.])
    """
    _expect_probability(p)
    return _dropped(input, input.shape, p, training, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros instead of random channels of signals, (images, channels, length) or (channels, length); see `dropout`."""
    return _channels_dropped("dropout1d", input, p, training, inplace, (2, 3), 2)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros instead of random channels of images; what has three dimensions is taken for signals. See `dropout`."""
    return _channels_dropped("dropout2d", input, p, training, inplace, (3, 4), 0)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros instead of random channels of volumes, with a batch or without one; see `dropout`."""
    return _channels_dropped("dropout3d", input, p, training, inplace, (4, 5), 4)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean zero and variance one: the saturation of selu instead of a random part of the elements.

    Source: Klambauer et al., Self-Normalizing Neural Networks, 2017, section 3.
    """
    _expect_probability(p)
    return _saturated(input, input.shape, p, training, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels, the second dimension of the input."""
    _expect_probability(p)
    if input.ndim < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, but its size is {list(input.shape)}"
        )
    return _saturated(input, _one_per_channel(input, input.ndim), p, training, inplace)


def _expect_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(input: Tensor, shape: Sequence[int], p: float) -> Tensor:
    """Ones, and zeros with probability `p`."""
    return input.detach().new_empty(shape).bernoulli_(1 - p)


def _dropped(input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool) -> Tensor:
    if not training or p == 0:
        return input
    factors = _kept(input, shape, p)
    if p < 1:
        factors.div_(1 - p)
    return input.mul_(factors) if inplace else input * factors


def _saturated(input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool) -> Tensor:
    if not training or p == 0:
        return input
    kept = _kept(input, shape, p)
    if p == 1:
        return input.mul_(kept) if inplace else input * kept
    scale = 1 / math.sqrt((SATURATION**2 * p + 1) * (1 - p))
    offset = (kept - 1 + p) * (SATURATION * scale)
    return input.mul_(kept * scale).add_(offset) if inplace else input * (kept * scale) + offset


def _channels_dropped(
    op: str, input: Tensor, p: float, training: bool, inplace: bool, ndims: tuple[int, int], unbatched: int
) -> Tensor:
    _expect_probability(p)
    if input.ndim not in ndims:
        raise RuntimeError(
            f"{op}: Expected {ndims[0]}D or {ndims[1]}D input, but received a {input.ndim}D input of size "
            f"{list(input.shape)}"
        )
    kept_dims = 1 if input.ndim == unbatched else 2
    return _dropped(input, [*input.shape[:kept_dims], *[1] * (input.ndim - kept_dims)], p, training, inplace)


def _one_per_channel(input: Tensor, ndim: int) -> list[int]:
    return [*input.shape[:2], *[1] * (ndim - 2)]
