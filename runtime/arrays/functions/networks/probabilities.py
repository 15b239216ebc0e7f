"""Losses of probabilities and of variances, which have to be some."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data

Array: TypeAlias = NDArray[Any]

LEAST_LOGARITHM = -100.0  # PyTorch's, so that a loss stays finite


def binary_entropies_of(p: Array, target: Array) -> Array:
    """-t log(p) - (1 - t) log(1 - p)"""
    if p.dtype.kind != "f":
        raise NotImplementedError(
            f"binary_cross_entropy is not implemented for {p.dtype}; convert it to a floating dtype"
        )
    dtype = np.result_type(p, target)
    if has_no_data(p) or has_no_data(target):
        return array_without_data(np.broadcast_shapes(p.shape, target.shape), dtype)
    _check_probabilities("input", p)
    _check_probabilities("target", target)
    with np.errstate(divide="ignore"):
        yes, no = np.log(p), np.log1p(-p)
    least = p.dtype.type(LEAST_LOGARITHM)
    return np.asarray((target - 1) * np.maximum(no, least) - target * np.maximum(yes, least), dtype)


def _check_probabilities(name: str, values: Array) -> None:
    """NaN is no probability either."""
    if not ((values >= 0) & (values <= 1)).all():
        raise RuntimeError(
            f"binary_cross_entropy: all elements of {name} should be between 0 and 1. For logits, numbers of any size, "
            "there is binary_cross_entropy_with_logits."
        )


def variances_at_least_of(variances: Array, eps: float) -> Array:
    """The variances, none less than `eps`."""
    if has_no_data(variances):
        return array_without_data(variances.shape, variances.dtype)
    if (variances < 0).any():
        raise ValueError("gaussian_nll_loss: var has negative entry/entries, but variances are zero or more")
    return np.asarray(np.maximum(variances, variances.dtype.type(eps)))
