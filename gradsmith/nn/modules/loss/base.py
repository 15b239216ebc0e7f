"""Base classes of losses."""

from __future__ import annotations

import warnings
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.runtime.arrays.warning_place import warn_caller


class Loss(Module):
    """A loss, and what is returned of it.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Old ways to say `reduction`.
    reduction : {"none", "mean", "sum"}, optional
        What is returned of the losses: all, their mean, or their sum.
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        is_old = size_average is not None or reduce is not None
        self.reduction = old_reduction(size_average, reduce) if is_old else _of_today(reduction)


class WeightedLoss(Loss):
    """A loss with a weight for each class, or for each element: a buffer."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


def _of_today(reduction: str) -> str:
    """A reduction by its name, of which one was another in 2018."""
    if reduction != "elementwise_mean":
        return reduction
    warn_caller("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
    return "mean"


def old_reduction(size_average: Any, reduce: Any) -> str:
    """The `reduction` that two old arguments stand for."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    found = "none" if not reduce else "mean" if size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.", stacklevel=4
    )
    return found
