"""Losses whose arguments are not those of one op."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from gradsmith.generated import clamp_min, log, minimum, pairwise_distance, reshape, select, unsqueeze, where
from gradsmith.generated.probability_losses import ctc_losses, variances_at_least
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.losses.alignments import differ_from_run_to_run, labels_in_a_row, lengths_of, losses_of_each_run
from gradsmith.runtime.tensors.factories.creation import tensor

__all__ = ["ctc_loss", "gaussian_nll_loss", "triplet_margin_with_distance_loss"]

# The numbers that ``torch.ctc_loss`` has for them.
_REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str | int = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification: minus the log-probability of labels, whatever their alignment with steps.

    Parameters
    ----------
    log_probs : Tensor
        Logarithms of the probabilities of classes, as `log_softmax` gives them: (steps, batch, classes), or
        (steps, classes). Of dtype float32 or float64.
    targets : Tensor
        Labels, none of which is the blank: (batch, most labels), where those after a sequence's length do not count, or
        those of all sequences one after the other.
    input_lengths, target_lengths : Tensor or sequence of int
        How many steps and labels each sequence has; one number where there is no batch.
    blank : int, optional
        The class that stands for no label.
    reduction : {'mean', 'sum', 'none'} or {1, 2, 0}, optional
        What becomes of the losses; 'mean' divides each by its number of labels first.
    zero_infinity : bool, optional
        Losses of labels that have no alignment, since there are too few steps, are zero and not infinite.

    Returns
    -------
    Tensor
        One number; with 'none' one for each sequence.

    Raises
    ------
    ValueError
        There is no such reduction.
    RuntimeError
        Sizes do not go together, lengths are too long, or a label is no class.
    NotImplementedError
        For another dtype; and once a third derivative is asked for.

    Notes
    -----
    Source: Graves et al., Connectionist Temporal Classification, 2006. The gradient is the derivative with respect to
    `log_probs`, minus the share of alignments that go through each class at each step. PyTorch adds the probability of
    the class to it, which `log_softmax` takes away again: gradients of what goes into `log_softmax` are the same.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> log_probs = gs.full((3, 1, 2), 0.5).log()
    >>> F.ctc_loss(log_probs, gs.tensor([[1]]), [3], [1], reduction="none").exp()     # six of eight alignments
    tensor([1.3333])
    """
    for name, value in (("log_probs", log_probs), ("targets", targets)):
        if not isinstance(value, Tensor):
            raise TypeError(f"ctc_loss(): argument '{name}' must be Tensor, not {type(value).__name__}")
    reduction = _REDUCTIONS.get(reduction, "") if isinstance(reduction, int) else reduction
    is_batched = log_probs.ndim != 2
    log_probs, targets = (log_probs, targets) if is_batched else (unsqueeze(log_probs, 1), reshape(targets, [-1]))
    if differ_from_run_to_run(input_lengths, target_lengths):
        losses, divisors = losses_of_each_run(log_probs, targets, input_lengths, target_lengths, blank)
    else:
        steps, counts = lengths_of(input_lengths, "input_lengths"), lengths_of(target_lengths, "target_lengths")
        losses = ctc_losses(log_probs, labels_in_a_row(targets, counts), counts, steps, blank)
        divisors = tensor(counts, dtype=losses.dtype, device=losses.device)
    if not is_batched:
        losses, divisors = select(losses, 0, 0), select(divisors, 0, 0)
    if zero_infinity:
        losses = where(losses == math.inf, 0.0, losses)
    if reduction == "mean":
        losses = losses / clamp_min(divisors, 1)
    return _reduced(losses, reduction)


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
        Lower bound of the variance. Below it the gradient is that of the loss at the bound, so that it can grow.
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
    """Triplet loss for any distance: by how much the positive is not nearer than the negative by a margin.

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
    RuntimeError
        The tensors differ in their number of dimensions.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> x, near, far = gs.zeros(2, 3), gs.ones(2, 3), gs.full((2, 3), 1.5)
    >>> F.triplet_margin_with_distance_loss(x, near, far, distance_function=lambda a, b: (a - b).abs().sum(-1))
    tensor(0.)
    """
    if not margin > 0:
        raise ValueError(f"triplet_margin_with_distance_loss(): margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
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
