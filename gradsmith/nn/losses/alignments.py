"""Lengths and labels of sequences for `ctc_loss`, also where lengths are tensors of a compiled function.

The loops of the losses are as long as the lengths say. A program calls them anew in each run, with the lengths of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from gradsmith.autograd.function import Function, once_differentiable
from gradsmith.generated import cat
from gradsmith.generated.probability_losses import ctc_losses, ctc_slopes
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor, trace_of_thread

Lengths = Tensor | Sequence[int]


def lengths_of(lengths: Lengths, name: str) -> list[int]:
    """How many steps or labels each sequence has, in Python."""
    if isinstance(lengths, Tensor) and lengths.dtype.kind not in "iu" and lengths.numel():
        raise RuntimeError(f"ctc_loss(): {name} must be integral, but they are {lengths.dtype.name}")
    numbers = lengths.reshape(-1).tolist() if isinstance(lengths, Tensor) else lengths
    try:
        return [index(n) for n in ([numbers] if isinstance(numbers, int) else numbers)]
    except TypeError:
        wanted = "Tensor or a tuple of ints"
        raise TypeError(f"ctc_loss(): argument '{name}' must be {wanted}, not {lengths!r}") from None


def labels_in_a_row(targets: Tensor, counts: list[int]) -> Tensor:
    """The labels of all sequences, one after the other."""
    labels = targets.detach().to(dtype="int64")
    if labels.ndim == 1:
        if labels.shape[0] != sum(counts):
            raise RuntimeError(
                f"ctc_loss(): Expected targets to have size {sum(counts)}, the sum of target_lengths, but got "
                f"{labels.shape[0]}"
            )
        return labels
    if labels.ndim != 2 or labels.shape[0] != len(counts) or labels.shape[1] < max(counts, default=0):
        raise RuntimeError(
            f"ctc_loss(): Expected targets of {len(counts)} sequences with at least {max(counts, default=0)} labels, "
            f"but got size {list(labels.shape)}"
        )
    return cat([labels[i, : max(n, 0)] for i, n in enumerate(counts)]) if counts else labels.reshape(-1)


# ---- in a program


def differ_from_run_to_run(*lengths: Lengths) -> bool:
    """Are any of them known only when a program runs?"""
    trace = trace_of_thread()
    if trace is None:
        return False
    tensors = [one for one in lengths if isinstance(one, Tensor)]
    return any(not is_batched_tensor(one) or trace.known_array(trace.slot(one)) is None for one in tensors)


def losses_of_each_run(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int
) -> tuple[Tensor, Tensor]:
    """Losses, and how many labels each sequence has."""
    losses, counts = _Losses.apply(log_probs, targets.detach(), input_lengths, target_lengths, blank)
    return losses, counts


class _Losses(Function):
    @staticmethod
    def forward(ctx: Any, log_probs: Tensor, *others: Any) -> Any:
        ctx.others = others
        ctx.save_for_backward(log_probs)
        losses, counts = _in_each_run(_losses, log_probs, *others)
        ctx.mark_non_differentiable(counts)
        return losses, counts

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Any) -> Any:
        (log_probs,) = ctx.saved_tensors
        return _in_each_run(_slopes, log_probs, grad, *ctx.others), None, None, None, None


def _in_each_run(function: Callable[..., Any], *operands: Any) -> Any:
    return trace_of_thread().call_of(function, operands, "ctc_loss", False)


def _losses(log_probs: Tensor, targets: Tensor, steps: Any, counts: Any, blank: int) -> tuple[Tensor, Tensor]:
    numbers = lengths_of(counts, "target_lengths")
    labels = labels_in_a_row(targets, numbers)
    losses = ctc_losses(log_probs, labels, numbers, lengths_of(steps, "input_lengths"), blank)
    return losses, losses.new_tensor(numbers)


def _slopes(log_probs: Tensor, grad: Tensor, targets: Tensor, steps: Any, counts: Any, blank: int) -> Tensor:
    numbers = lengths_of(counts, "target_lengths")
    labels = labels_in_a_row(targets, numbers)
    return ctc_slopes(log_probs, grad, labels, numbers, lengths_of(steps, "input_lengths"), blank)
