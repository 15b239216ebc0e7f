"""Losses of classes: how improbable those are that were wanted."""

from __future__ import annotations

from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.loss.base import Loss, WeightedLoss


class CrossEntropyLoss(WeightedLoss):
    """The negative log probability of classes, whose scores the input has.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each class.
    size_average : bool, optional
        Old ways to say `reduction`.
    ignore_index : int, optional
        A target that is passed over.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.
    label_smoothing : float, optional
        The part of each target that is spread over all classes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.CrossEntropyLoss()(gs.tensor([[0.0, 0.0]]), gs.tensor([1]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.cross_entropy`."""
        return F.cross_entropy(
            input, target, self.weight, None, self.ignore_index, None, self.reduction, self.label_smoothing
        )


class NLLLoss(WeightedLoss):
    """The negative log probability of classes, whose log probabilities the input has.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each class.
    size_average : bool, optional
        Old ways to say `reduction`.
    ignore_index : int, optional
        A target that is passed over.
    reduce : bool, optional
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.NLLLoss()(gs.tensor([[-1.0, -2.0]]), gs.tensor([1]))
    tensor(2.)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.nll_loss`."""
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """An old name of `NLLLoss`."""


class BCELoss(WeightedLoss):
    """The negative log probability of yes or no, whose probability of yes the input has.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each element.
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.BCELoss()(gs.tensor([0.5]), gs.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.binary_cross_entropy`."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """`BCELoss` of the logistic function of the input, and exact where that is 0 or 1.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each element.
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.
    pos_weight : Tensor, optional
        A factor for each class where the target is yes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.BCEWithLogitsLoss()(gs.tensor([0.0]), gs.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """See `nn.functional.binary_cross_entropy_with_logits`."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(Loss):
    """The negative log probability of sequences, over all ways to place them in longer ones with blanks.

    Parameters
    ----------
    blank : int, optional
        The class that means nothing.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.
    zero_infinity : bool, optional
        Whether losses of sequences that do not fit are zero instead of infinite.

    Notes
    -----
    The mean is that of losses divided by the lengths of their targets. Source: Graves et al., Connectionist
    temporal classification, 2006.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """See `nn.functional.ctc_loss`."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
