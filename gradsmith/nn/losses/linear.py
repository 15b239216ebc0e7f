"""A linear layer and the cross entropy of what it gives, in one function."""

from __future__ import annotations

from typing import Any

from gradsmith.generated import cross_entropy, linear
from gradsmith.generated.loss import linear_class_losses
from gradsmith.generated.tensor import Tensor

__all__ = ["linear_cross_entropy"]

_IGNORED = -100  # the class that `cross_entropy` ignores unless told otherwise


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of ``linear(input, linear_weight, linear_bias)``.

    Where rows have one class each, which is not smoothed, the scores of all rows are never there at once, nor kept:
    backward computes them again.

    Parameters
    ----------
    input : Tensor
        Of shape (N, features), or (features,).
    linear_weight : Tensor
        Of shape (C, features) for C classes, or (C, d1, ..., features) for as many losses of one row as d1, ... say.
    target : Tensor
        The right classes, of shape (N, d1, ...), or their probabilities, of shape (N, C, d1, ...); without N where the
        input has none.
    linear_bias : Tensor, optional
        Of the shape of `linear_weight` without its last size.
    weight, reduction, label_smoothing
        As of `cross_entropy`.
    ignore_index : int, optional
        A class that does not count, by default -100; not for probabilities.
    options : optional
        How PyTorch saves memory, which changes no result. Without effect.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        Sizes do not fit, or `ignore_index` is given for probabilities.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.linear_cross_entropy(gs.tensor([[1.0, 2.0]]), gs.eye(2), gs.tensor([1]))
    tensor(0.3133)
    """
    _expect_sizes(input, linear_weight, linear_bias)
    ignored = _IGNORED if ignore_index is None else ignore_index
    if input.ndim == linear_weight.ndim == 2 and target.ndim == 1 and not label_smoothing:
        return linear_class_losses(input, linear_weight, linear_bias, target, weight, ignored, reduction)
    flat_bias = None if linear_bias is None else linear_bias.reshape(-1)
    columns = linear(input, linear_weight.reshape(-1, linear_weight.shape[-1]), flat_bias)
    logits = columns.reshape(*input.shape[:-1], *linear_weight.shape[:-1])
    if ignore_index is not None and target.shape == logits.shape:
        raise RuntimeError(
            "linear_cross_entropy(): ignore_index cannot be specified when target contains probabilities, but it is "
            f"{ignore_index} and target has the shape of the logits, {list(target.shape)}"
        )
    return cross_entropy(logits, target, weight, ignored, reduction, label_smoothing)


def _expect_sizes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"linear_cross_entropy(): expected input with 1 or 2 dimensions, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(
            f"linear_cross_entropy(): expected linear_weight with at least 2 dimensions, got {weight.ndim}"
        )
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "linear_cross_entropy(): expected the last sizes of input and linear_weight to be equal, got "
            f"{input.shape[-1]} and {weight.shape[-1]}"
        )
    if bias is not None and tuple(bias.shape) != tuple(weight.shape[:-1]):
        raise RuntimeError(
            f"linear_cross_entropy(): expected linear_bias of shape {list(weight.shape[:-1])}, got {list(bias.shape)}"
        )
    if weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"linear_cross_entropy(): linear_weight of shape {list(weight.shape)} needs an input of shape (N, "
            f"{weight.shape[-1]}), got {list(input.shape)}"
        )
