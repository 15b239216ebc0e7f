"""Losses with a margin: nothing is lost where right and wrong are farther apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.distance import PairwiseDistance
from gradsmith.nn.modules.loss.base import Loss, WeightedLoss


class HingeEmbeddingLoss(Loss):
    """Distances where the target is 1, and how much they fall short of the margin where it is -1.

    Parameters
    ----------
    margin : float, optional
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.HingeEmbeddingLoss()(gs.tensor([0.5, 0.5]), gs.tensor([1.0, -1.0]))
    tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.hinge_embedding_loss`."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(Loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.SoftMarginLoss()(gs.tensor([0.0]), gs.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.soft_margin_loss`."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(Loss):
    """The margins by which scores of other classes come near those of the target's classes.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MultiLabelMarginLoss()(gs.tensor([[0.5, 0.25]]), gs.tensor([[0, -1]]))
    tensor(0.3750)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.multilabel_margin_loss`."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """The mean over classes of the negative log probability of yes or no for each of them.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each class.
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MultiLabelSoftMarginLoss()(gs.tensor([[0.0, 0.0]]), gs.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.multilabel_soft_margin_loss`."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(WeightedLoss):
    """The margins by which scores of other classes come near that of the target.

    Parameters
    ----------
    p : int, optional
        1 or 2: the exponent of the margins.
    margin : float, optional
    weight : Tensor, optional
        A factor for each class.
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Raises
    ------
    ValueError
        `p` is another number, or the weight has not one dimension.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MultiMarginLoss()(gs.tensor([[0.5, 0.25]]), gs.tensor([0]))
    tensor(0.3750)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.multi_margin_loss`."""
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class CosineEmbeddingLoss(Loss):
    """1 less the cosine where the target is 1, and its excess over the margin where it is -1.

    Parameters
    ----------
    margin : float, optional
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x, y = gs.tensor([[1.0, 0.0]]), gs.tensor([[0.0, 1.0]])
    >>> gs.nn.CosineEmbeddingLoss()(x, y, gs.tensor([1.0]))
    tensor(1.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.cosine_embedding_loss`."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(Loss):
    """How much the first input falls short of exceeding the second (target 1), or the other way round (-1).

    Parameters
    ----------
    margin : float, optional
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.MarginRankingLoss()(gs.tensor([1.0]), gs.tensor([3.0]), gs.tensor([1.0]))
    tensor(2.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.margin_ranking_loss`."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class TripletMarginLoss(Loss):
    """How much an anchor's distance from what is like it exceeds that from what is not, less the margin.

    Parameters
    ----------
    margin : float, optional
    p : float, optional
        The exponent of the distance.
    eps : float, optional
        Added to differences.
    swap : bool, optional
        Whether the distance of the other two counts, when it is less.
    size_average : bool, optional
        Old ways to say `reduction`.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Raises
    ------
    ValueError
        The margin is not positive.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([[0.0, 0.0]])
    >>> gs.nn.TripletMarginLoss()(x, x, x)
    tensor(1.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _require_positive("TripletMarginLoss", margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """See `nn.functional.triplet_margin_loss`."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(Loss):
    """`TripletMarginLoss` with any distance.

    Parameters
    ----------
    distance_function : callable, optional
        Called with two tensors; `PairwiseDistance` when it is not given.
    margin : float, optional
    swap : bool, optional
        Whether the distance of the other two counts, when it is less.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Raises
    ------
    ValueError
        The margin is not positive.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([[0.0, 0.0]])
    >>> gs.nn.TripletMarginWithDistanceLoss(margin=2.0)(x, x, x)
    tensor(2.)
    """

    distance_function: Any

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _require_positive("TripletMarginWithDistanceLoss", margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """See `nn.functional.triplet_margin_with_distance_loss`."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _require_positive(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
