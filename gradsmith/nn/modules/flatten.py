"""Dimensions made one, and one made several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Several dimensions as one; at first, all but the first.

    Parameters
    ----------
    start_dim : int, optional
    end_dim : int, optional
        The first and the last of the dimensions.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Flatten()(gs.ones(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """See `Tensor.flatten`."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One dimension as several.

    Parameters
    ----------
    dim : int
    unflattened_size : tuple of int
        The sizes that it becomes.

    Raises
    ------
    TypeError
        The sizes are no tuple or list of int.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.Unflatten(1, (3, 4))(gs.ones(2, 12)).shape
    (2, 3, 4)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        _require_sizes(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """See `Tensor.unflatten`."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _require_sizes(sizes: Any) -> None:
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}")
    for place, size in enumerate(sizes):
        if not isinstance(size, int):
            raise TypeError(
                f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} at pos "
                f"{place}"
            )
