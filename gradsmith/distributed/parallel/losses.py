"""Losses of outputs that are divided among the ranks."""

from __future__ import annotations

from typing import Any

from gradsmith.distributed.nn import functional as collectives
from gradsmith.distributed.parallel.regions import leave_parallel_region
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.distributed.world import group_of
from gradsmith.generated import exp, log, where

__all__ = ["vocab_parallel_cross_entropy"]


def vocab_parallel_cross_entropy(logits: Any, target: Any, reduction: str = "mean", group: Any = None) -> Any:
    """Cross entropy of classes that are divided among the ranks, without putting them together.

    Parameters
    ----------
    logits : Tensor
        Of shape (..., classes of this rank), as a `ColumnParallelLinear` with ``gather_output=False`` gives them.
    target : Tensor
        Numbers of classes of all ranks, of shape (...).
    reduction : {"mean", "sum", "none"}
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
        The same for all ranks.

    Raises
    ------
    ValueError
        `reduction` is something else.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    group = group_of(group, "vocab_parallel_cross_entropy")
    largest = collectives.all_reduce(logits.detach().amax(-1, keepdim=True), ReduceOp.MAX, group)
    shifted = logits - largest
    total = leave_parallel_region(exp(shifted).sum(-1), group)
    places = target - group.rank() * logits.shape[-1]
    is_here = (places >= 0) & (places < logits.shape[-1])
    picked = shifted.gather(-1, where(is_here, places, 0).unsqueeze(-1)).squeeze(-1)
    loss = log(total) - leave_parallel_region(where(is_here, picked, 0.0), group)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
