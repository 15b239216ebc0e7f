"""Cross entropy beyond classes alone: against probabilities, or with classes smoothed towards all others.

Written with differentiable methods of tensors over log-probabilities of size (C), (N, C) or (N, C, d1, ...).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from gradsmith.runtime.arrays.functions.losses import target_dtype_error, target_size_error
from gradsmith.runtime.batching.checked_values import check_values

Tensor = Any


def soft_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None, ignore: int, reduction: str, smoothing: float
) -> Tensor:
    """The loss of log-probabilities against probabilities, or against classes smoothed towards all others."""
    if target.is_floating_point():
        return _loss_of_probabilities(self, target, weight, reduction, smoothing)
    return _loss_of_smoothed_classes(self, target, weight, ignore, reduction, smoothing)


def _loss_of_probabilities(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    if target.shape != self.shape:
        raise _error_of_probabilities(self, target)
    dim = 1 if self.ndim > 1 else 0
    if smoothing:
        target = target * (1 - smoothing) + smoothing / self.shape[dim]
    losses = -_weighted(self * target, weight, dim).sum(dim)
    return _reduced(losses, reduction, losses.numel())


def _error_of_probabilities(self: Tensor, target: Tensor) -> Exception:
    """Numbers of another size than the input's would have to be classes."""
    if target.shape == _size_of_classes(self):
        return target_dtype_error(target.dtype)
    return target_size_error("cross_entropy", tuple(self.shape), tuple(target.shape))


def _size_of_classes(self: Tensor) -> tuple[int, ...]:
    return (*self.shape[:1], *self.shape[2:]) if self.ndim > 1 else ()


def _loss_of_smoothed_classes(
    self: Tensor, target: Tensor, weight: Tensor | None, ignore: int, reduction: str, smoothing: float
) -> Tensor:
    if not smoothing:
        raise RuntimeError("cross_entropy(): classes that are not smoothed have a loss of their own")
    dim = 1 if self.ndim > 1 else 0
    _check_classes(self, target, dim, ignore)
    ignored = target == ignore
    classes = target.masked_fill(ignored, 0).unsqueeze(dim)
    weighted = _weighted(self, weight, dim)
    right = -weighted.gather(dim, classes).squeeze(dim)
    others = -weighted.sum(dim)
    losses = ((1 - smoothing) * right + (smoothing / self.shape[dim]) * others).masked_fill(ignored, 0)
    kept = ignored.logical_not()
    if weight is not None:
        kept = weight[classes.squeeze(dim)] * kept
    return _reduced(losses, reduction, kept.sum())


def _check_classes(self: Tensor, target: Tensor, dim: int, ignore: int) -> None:
    if target.shape != _size_of_classes(self):
        raise target_size_error("cross_entropy", tuple(self.shape), tuple(target.shape))
    check_values(partial(_expect_classes, self.shape[dim], ignore), target)


def _expect_classes(count: int, ignore: int, target: Tensor) -> None:
    classes = target.numpy()
    wrong = classes[((classes < 0) | (classes >= count)) & (classes != ignore)]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds: there are {count} classes.")


def _weighted(tensor: Tensor, weight: Tensor | None, dim: int) -> Tensor:
    if weight is None:
        return tensor
    if weight.shape != (tensor.shape[dim],):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {tensor.shape[dim]} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
    return tensor * weight.reshape([-1 if axis == dim else 1 for axis in range(tensor.ndim)])


def _reduced(losses: Tensor, reduction: str, divisor: Any) -> Tensor:
    if reduction == "none":
        return losses
    if reduction in ("sum", "mean"):
        return losses.sum() if reduction == "sum" else losses.sum() / divisor
    raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")
