"""Losses as in ``torch.nn.functional``: `size_average` and `reduce`, which are deprecated, have their places."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.warning_place import warn_caller

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]

_Loss = TypeVar("_Loss", bound=Callable[..., Tensor])

_OLDER = """
    `size_average` and `reduce` are PyTorch's older words for `reduction`, which they replace where one is given: "none"
    without `reduce`, else "mean" or, without `size_average`, "sum". They are deprecated.
"""


def _of_op(op: Callable[..., Tensor]) -> Callable[[_Loss], _Loss]:
    """The documentation of the op, and what the older arguments are."""

    def documented(loss: _Loss) -> _Loss:
        loss.__doc__ = f"{op.__doc__}{_OLDER}"
        return loss

    return documented


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that is meant, with a warning where it is said in older words."""
    if size_average is None and reduce is None:
        return checked_reduction(reduction)
    is_reduced = reduce is None or reduce
    meant = "none" if not is_reduced else "mean" if size_average is None or size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction={meant!r} instead.", stacklevel=3
    )
    return meant


def checked_reduction(reduction: str) -> str:
    """`reduction`, if it is a word: the numbers that the functions outside of `nn` take mean nothing here."""
    if isinstance(reduction, str):
        return reduction
    raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")


def warn_of_sizes(input: object, target: object) -> None:
    """Warn where a loss of pairs takes tensors of different sizes: (3,) and (3, 1) make nine pairs."""
    if isinstance(input, Tensor) and isinstance(target, Tensor) and input.shape != target.shape:
        warn_caller(
            f"Using a target size ({list(target.shape)}) that is different to the input size ({list(input.shape)}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


@_of_op(ops.binary_cross_entropy)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.binary_cross_entropy(input, target, weight, reduction_of(size_average, reduce, reduction))


@_of_op(ops.binary_cross_entropy_with_logits)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    return ops.binary_cross_entropy_with_logits(
        input, target, weight, reduction=reduction_of(size_average, reduce, reduction), pos_weight=pos_weight
    )


@_of_op(ops.cosine_embedding_loss)
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.cosine_embedding_loss(input1, input2, target, margin, reduction_of(size_average, reduce, reduction))


@_of_op(ops.cross_entropy)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    return ops.cross_entropy(
        input,
        _lone_class(input, target),
        weight,
        ignore_index,
        reduction_of(size_average, reduce, reduction),
        label_smoothing,
    )


@_of_op(ops.hinge_embedding_loss)
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.hinge_embedding_loss(input, target, margin, reduction_of(size_average, reduce, reduction))


@_of_op(ops.kl_div)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == "mean":
        warn_caller(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition."
        )
    return ops.kl_div(input, target, reduction, log_target=log_target)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    warn_of_sizes(input, target)
    return ops.huber_loss(input, target, checked_reduction(reduction), delta, weight)


huber_loss.__doc__ = ops.huber_loss.__doc__


@_of_op(ops.l1_loss)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    warn_of_sizes(input, target)
    return ops.l1_loss(input, target, reduction_of(size_average, reduce, reduction), weight)


@_of_op(ops.margin_ranking_loss)
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.margin_ranking_loss(input1, input2, target, margin, reduction_of(size_average, reduce, reduction))


@_of_op(ops.mse_loss)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    reduction = reduction_of(size_average, reduce, reduction)
    warn_of_sizes(input, target)
    if weight is None:
        return ops.mse_loss(input, target, reduction)
    if weight.shape != input.shape:
        raise ValueError(
            f"mse_loss(): weight and input must have the same size, but these are {list(weight.shape)} and "
            f"{list(input.shape)}"
        )
    losses = ops.mse_loss(input, target, "none") * weight
    if reduction == "mean":
        return losses.sum() / weight.sum()
    if reduction not in ("none", "sum"):
        raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")
    return losses if reduction == "none" else losses.sum()


@_of_op(ops.multi_margin_loss)
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.multi_margin_loss(input, target, p, margin, weight, reduction_of(size_average, reduce, reduction))


@_of_op(ops.multilabel_margin_loss)
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    return ops.multilabel_margin_loss(input, target, reduction_of(size_average, reduce, reduction))


@_of_op(ops.multilabel_soft_margin_loss)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.multilabel_soft_margin_loss(input, target, weight, reduction_of(size_average, reduce, reduction))


@_of_op(ops.nll_loss)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    target = _lone_class(input, target)
    return ops.nll_loss(input, target, weight, ignore_index, reduction_of(size_average, reduce, reduction))


@_of_op(ops.poisson_nll_loss)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    return ops.poisson_nll_loss(input, target, log_input, full, eps, reduction_of(size_average, reduce, reduction))


@_of_op(ops.smooth_l1_loss)
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    warn_of_sizes(input, target)
    return ops.smooth_l1_loss(input, target, reduction_of(size_average, reduce, reduction), beta)


def _lone_class(input: Tensor, target: Tensor) -> Tensor:
    """The class of one vector of scores, which may also be given as a vector of one element."""
    is_lone = isinstance(input, Tensor) and isinstance(target, Tensor) and input.ndim == 1 == target.ndim
    return target.reshape(()) if is_lone and target.numel() == 1 and target.dtype.kind in "iu" else target


@_of_op(ops.soft_margin_loss)
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    return ops.soft_margin_loss(input, target, reduction_of(size_average, reduce, reduction))


@_of_op(ops.triplet_margin_loss)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    if not margin > 0:
        raise ValueError(f"triplet_margin_loss(): margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "triplet_margin_loss(): The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D"
        )
    return ops.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction_of(size_average, reduce, reduction)
    )
