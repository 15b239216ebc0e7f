"""Softmax over many classes, of which most are rare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from gradsmith.generated import cat, where
from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.container import ModuleList, Sequential
from gradsmith.nn.modules.linear import Linear
from gradsmith.nn.modules.module import Module
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.batching.checked_values import check_values


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probability of each target among many classes, the first of which are the most frequent.

    Frequent classes have a score each. The others are in clusters, each with a score, and with smaller layers that
    decide within the cluster.

    Parameters
    ----------
    in_features, n_classes : int
    cutoffs : sequence of int
        The first class of each cluster, in increasing order.
    div_value : float, optional
        By how much the layers of each cluster are smaller than those before.
    head_bias : bool, optional
        Whether the scores of frequent classes and of clusters have a bias.
    device, dtype : optional
        Those of the parameters.

    Raises
    ------
    ValueError
        The cutoffs are not increasing numbers from 1 to ``n_classes - 1``.

    Notes
    -----
    A compiled function computes each cluster for all rows, since it does not know which rows are in it.

    Source: Grave et al., Efficient softmax approximation for GPUs, 2017.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> output, loss = layer(gs.ones(3, 16), gs.tensor([0, 7, 19]))
    >>> output.shape, layer.log_prob(gs.ones(3, 16)).shape
    ((3,), (3, 20))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_cutoffs(list(cutoffs), n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for number, (start, stop) in enumerate(pairwise(self.cutoffs), 1):
            hidden = int(in_features // div_value**number)
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, device=device, dtype=dtype),
                    Linear(hidden, stop - start, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Log probabilities of targets, (rows,), for inputs, (rows, in_features), and the loss; also without rows."""
        _check_target(input_, target_)
        if target_.ndim == 0:
            output, loss = self(input_.unsqueeze(0), target_.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        check_values(partial(_expect_classes, self.n_classes), target_)
        if is_tracing():
            return self._of_all_rows(input_, target_)
        head = F.log_softmax(self.head(input_), dim=1)
        choice = where(target_ < self.shortlist_size, target_, 0)
        within: Any = 0
        for number, (start, stop) in enumerate(pairwise(self.cutoffs)):
            rows = ((target_ >= start) & (target_ < stop)).nonzero().squeeze(1)
            if rows.numel():
                choice = choice.index_fill(0, rows, self.shortlist_size + number)
                within = within + self._within_cluster(number, input_, rows, target_[rows] - start)
        output = head.gather(1, choice.unsqueeze(1)).squeeze(1) + within
        return _ASMoutput(output, (-output).mean())

    def _of_all_rows(self, input: Tensor, target: Tensor) -> _ASMoutput:
        """The same in a program, which does not know the rows of a cluster: each cluster has all of them."""
        choice, within = target, input.new_zeros(input.shape[0])
        for number, (start, stop) in enumerate(pairwise(self.cutoffs)):
            is_inside = (target >= start) & (target < stop)
            choice = where(is_inside, self.shortlist_size + number, choice)
            scores = F.log_softmax(self.tail[number](input), dim=1)
            found = scores.gather(1, where(is_inside, target - start, 0).unsqueeze(1)).squeeze(1)
            within = within + where(is_inside, found, 0)
        head = F.log_softmax(self.head(input), dim=1)
        output = head.gather(1, choice.unsqueeze(1)).squeeze(1) + within
        return _ASMoutput(output, (-output).mean())

    def _within_cluster(self, number: int, input: Tensor, rows: Tensor, targets: Tensor) -> Tensor:
        """Log probabilities of some rows' targets within a cluster, zero for all other rows."""
        scores = F.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
        found = scores.gather(1, targets.unsqueeze(1)).squeeze(1)
        return input.new_zeros(input.shape[0]).index_copy(0, rows, found)

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities of all classes, (rows, n_classes), for inputs (rows, in_features)."""
        return self._get_full_log_prob(input, self.head(input))

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for number, cluster in enumerate(self.tail, self.shortlist_size):
            parts.append(F.log_softmax(cluster(input), dim=1) + head[:, number : number + 1])
        return cat(parts, dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row of inputs (rows, in_features)."""
        return self.log_prob(input).argmax(dim=1)


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    increasing = all(a < b for a, b in pairwise([0, *cutoffs, n_classes]))
    if not increasing or any(int(cutoff) != cutoff for cutoff in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
            "is between 1 and n_classes-1"
        )


def _expect_classes(count: int, target: Tensor) -> None:
    if ((target < 0) | (target >= count)).any():
        raise RuntimeError(
            f"Target values should be in [0, {count - 1}], but values in range "
            f"[{target.min().item()}, {target.max().item()}] were found. "
        )


def _check_target(input: Tensor, target: Tensor) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with size "
            f"{input.shape}"
        )
    if target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
