"""Dropout, with the arguments that ``torch.nn.functional`` has for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradsmith.generated.sampling import kept_part
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.tensors.factories.random import Generator, mask
from gradsmith.runtime.tensors.queries import is_tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

SATURATION = 1.7580993408473766  # minus the value to which selu goes, scale * alpha; from Klambauer et al., 2017


def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Zeros instead of a random part of the elements; the others are divided by how many remain on average.

    Parameters
    ----------
    input : Tensor
        Of any shape, and in training of a floating or complex dtype.
    p : float, optional
        The probability of a zero.
    training : bool, optional
        Without it the result is the input.
    inplace : bool, optional
        Change the input itself.
    generator : Generator, optional
        The source of the random numbers; the default one if not given.

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
    _expect_input("dropout", input, p, training)
    return _dropped("dropout", input, input.shape, p, training, inplace, generator)


def dropout1d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Zeros instead of random channels of signals, (images, channels, length) or (channels, length); see `dropout`."""
    _expect_input("dropout1d", input, p, training)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input of size {list(input.shape)}"
        )
    return _channels_dropped("dropout1d", input, p, training, inplace, generator, input.ndim == 3)


def dropout2d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Zeros instead of random channels of images; see `dropout`.

    A tensor of three dimensions is a batch of signals, as in PyTorch, and gives a warning. So does one of two, in which
    each number is a channel.
    """
    _expect_input("dropout2d", input, p, training)
    _warn_of_dimensions("dropout2d", input, (3, 4))
    if input.ndim == 3:
        warn_caller(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. dropout1d does it without a warning"
        )
    _expect_channels(input, p, training)
    return _channels_dropped("dropout2d", input, p, training, inplace, generator, True)


def dropout3d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Zeros instead of random channels of volumes, with a batch or without one; see `dropout`."""
    _expect_input("dropout3d", input, p, training)
    _warn_of_dimensions("dropout3d", input, (4, 5))
    return _channels_dropped("dropout3d", input, p, training, inplace, generator, input.ndim == 5)


def alpha_dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Dropout that keeps mean zero and variance one: the saturation of selu instead of a random part of the elements.

    Source: Klambauer et al., Self-Normalizing Neural Networks, 2017, section 3.
    """
    _expect_input("alpha_dropout", input, p, training)
    return _saturated("alpha_dropout", input, input.shape, p, training, inplace, generator)


def feature_alpha_dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """`alpha_dropout` of whole channels, the second dimension of the input."""
    _expect_input("feature_alpha_dropout", input, p, training)
    return _saturated(
        "feature_alpha_dropout", input, _one_per_channel(input, p, training), p, training, inplace, generator
    )


def _expect_input(op: str, input: Tensor, p: float, training: bool) -> None:
    if not is_tensor(input):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if training and input.dtype.kind not in "fc":
        raise RuntimeError(f"{op}(): expects a floating or complex dtype, but input is of {input.dtype}")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropped(
    op: str,
    input: Tensor,
    shape: Sequence[int],
    p: float,
    training: bool,
    inplace: bool,
    generator: Generator | None,
) -> Tensor:
    """Zeros where a mask of that shape says so."""
    if not training or p == 0:
        return input
    kept = mask(op, input, shape, 1 - p, generator)
    scale = 1 / (1 - p) if p < 1 else 0.0
    return input.mul_(kept.to(input.dtype).mul_(scale)) if inplace else kept_part(input, kept, scale)


def _saturated(
    op: str,
    input: Tensor,
    shape: Sequence[int],
    p: float,
    training: bool,
    inplace: bool,
    generator: Generator | None,
) -> Tensor:
    if not training or p == 0:
        return input
    if p == 1:
        return _dropped(op, input, shape, p, training, inplace, generator)
    kept = mask(op, input, shape, 1 - p, generator)
    scale = 1 / math.sqrt((SATURATION**2 * p + 1) * (1 - p))
    above, below = p * SATURATION * scale, (p - 1) * SATURATION * scale
    if not inplace:
        return kept_part(input, kept, scale, above, below)
    factors = kept.to(input.dtype)
    return input.mul_(factors * scale).add_(factors.mul_(above - below).add_(below))


def _channels_dropped(
    op: str,
    input: Tensor,
    p: float,
    training: bool,
    inplace: bool,
    generator: Generator | None,
    batched: bool,
) -> Tensor:
    kept_dims = 2 if batched else 1
    shape = [*input.shape[:kept_dims], *[1] * (input.ndim - kept_dims)]
    return _dropped(op, input, shape, p, training, inplace, generator)


def _warn_of_dimensions(op: str, input: Tensor, ndims: tuple[int, int]) -> None:
    if input.ndim not in ndims:
        warn_caller(
            f"{op}: Received a {input.ndim}-D input to {op}, which is deprecated and will result in an error in a "
            f"future release. It is for {ndims[0]}D and {ndims[1]}D inputs; please use dropout instead."
        )


def _one_per_channel(input: Tensor, p: float, training: bool) -> list[int]:
    if not training or p == 0:  # no channel is asked for
        return list(input.shape)
    _expect_channels(input, p, training)
    return [*input.shape[:2], *[1] * (input.ndim - 2)]


def _expect_channels(input: Tensor, p: float, training: bool) -> None:
    if training and p > 0 and input.ndim < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, but its size is {list(input.shape)}"
        )
