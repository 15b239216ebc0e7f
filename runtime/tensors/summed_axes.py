"""Axes that NumPy and the array API standard sum together, which PyTorch repeats where they have one element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["expect_same_sizes"]


def expect_same_sizes(op: str, x: Any, y: Any, left: Sequence[int], right: Sequence[int]) -> None:
    """Axes that are summed together have one size: one of 1 is not repeated.

    Raises
    ------
    ValueError
        They have not.
    """
    for i, j in zip(left, right):
        if -x.ndim <= i < x.ndim and -y.ndim <= j < y.ndim and x.shape[i] != y.shape[j]:
            raise ValueError(
                f"{op}(): axes that are summed together should have the same size, but axis {i} of size "
                f"{list(x.shape)} does not go with axis {j} of size {list(y.shape)}"
            )
