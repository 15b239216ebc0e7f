"""Losses whose arguments are not those of one op."""

from __future__ import annotations

import math
from collections.abc import Callable

from gradsmith.generated import clamp_min, log, minimum, pairwise_distance
from gradsmith.generated.probability_losses import variances_at_least
from gradsmith.generated.tensor import Tensor

__all__ = ["gaussian_nll_loss", "triplet_margin_with_distance_loss"]


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log-likelihood of numbers of normal distributions, given their means and variances.

    Parameters
    ----------
    input : Tensor
        Means.
    target : Tensor
        Numbers of these distributions, of a shape that broadcasts with the means.
    var : Tensor or float
        Variances: as many as means, one for each row of them, or one for all.
    full : bool, optional
        Add the constant term, log(2 pi) / 2.
    eps : float, optional
        What a smaller variance is taken for. Its gradient is that of the loss there, so that it can grow.
    reduction : {'mean', 'sum', 'none'}, optional
        What becomes of the losses.

    Returns
    -------
    Tensor
        One number; with 'none' one for each element.

    Raises
    ------
    ValueError
        A variance is negative, their size fits no mean, `eps` is not positive, or there is no such reduction.

    Notes
    -----
    The loss is (log(v) + (x - t)^2 / v) / 2, as in Nix and Weigend, Estimating the mean and variance of the target
    probability distribution, 1994.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.gaussian_nll_loss(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 4.0]), 1.0)
    tensor(1.)
    """
    if not eps > 0:
        raise ValueError(f"gaussian_nll_loss(): eps must be positive, but it is {eps}")
    variances = variances_at_least(_variances_for(var, input), eps)
    losses = 0.5 * (log(variances) + (input - target) ** 2 / variances)
    return _reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """What the distance to the negative lacks to that to the positive and a margin, for any distance.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        Vectors, along the last dimension, of one shape.
    distance_function : callable, optional
        From two tensors of vectors to their distances; `pairwise_distance` by default.
    margin : float, optional
        How much farther the negative has to be.
    swap : bool, optional
        Take the distance between positive and negative where that is smaller than the one from the anchor.
    reduction : {'mean', 'sum', 'none'}, optional
        What becomes of the losses.

    Returns
    -------
    Tensor
        One number; with 'none' one for each triplet.

    Raises
    ------
    ValueError
        `margin` is not positive, or there is no such reduction.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> x, near, far = gs.zeros(2, 3), gs.ones(2, 3), gs.full((2, 3), 1.5)
    >>> F.triplet_margin_with_distance_loss(x, near, far, distance_function=lambda a, b: (a - b).abs().sum(-1))
    tensor(0.)
    """
    if not margin > 0:
        raise ValueError(f"triplet_margin_with_distance_loss(): expected margin to be greater than 0, but got {margin}")
    distance = distance_function or pairwise_distance
    apart = distance(anchor, negative)
    if swap:
        apart = minimum(apart, distance(positive, negative))
    return _reduced(clamp_min(margin + distance(anchor, positive) - apart, 0), reduction)


def _variances_for(var: Tensor | float, means: Tensor) -> Tensor:
    """Variances that broadcast with the means."""
    if not isinstance(var, Tensor):
        return means.detach().new_full((), var)
    shape = tuple(means.shape)
    if var.ndim and tuple(var.shape) == shape[:-1]:
        return var.unsqueeze(-1)
    if var.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(reversed(var.shape), reversed(shape), strict=False)
    ):
        raise ValueError(
            f"gaussian_nll_loss(): var is of incorrect size: {list(var.shape)} does not go with inputs of size "
            f"{list(shape)}"
        )
    return var


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return losses
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")
    return losses.mean() if reduction == "mean" else losses.sum()
