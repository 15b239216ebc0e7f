"""Losses of classes by the scores that a linear layer gives, of which only some rows are there at a time."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.arrays.functions.algebra.linalg import linear_of
from gradsmith.runtime.arrays.functions.losses import class_losses_of

Array: TypeAlias = NDArray[Any]

SCORES = 1 << 20  # of a part: large enough for the product of matrices to be as fast as that of the whole


def linear_losses_of(
    x: Array, linear_weight: Array, linear_bias: Array | None, target: Array, ignore_index: int
) -> tuple[Array, Array]:
    """Minus the log-probability of each right class, and the logarithm of the sum that a softmax divides by."""
    rows = max(1, SCORES // max(len(linear_weight), 1))
    if has_no_data(x) or has_no_data(linear_weight) or len(x) <= rows or len(target) != len(x):
        return class_losses_of(linear_of(x, linear_weight, linear_bias), target, ignore_index)
    parts = [
        class_losses_of(linear_of(x[i : i + rows], linear_weight, linear_bias), target[i : i + rows], ignore_index)
        for i in range(0, len(x), rows)
    ]
    values, log_sums = zip(*parts, strict=True)
    return np.concatenate(values), np.concatenate(log_sums)
