"""Parts of tensors that are divided among the ranks."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Shard"]


class Shard(NamedTuple):
    """This rank's part of a tensor of one dimension.

    Parameters
    ----------
    tensor : Tensor
        The part itself. What is beyond the end of the whole is padding.
    start : int
        The place of its first element in the whole.
    total : int
        Elements of the whole, without padding.
    """

    tensor: Any
    start: int
    total: int

    @property
    def length(self) -> int:
        """Elements that are no padding."""
        return max(0, min(int(self.tensor.numel()), self.total - self.start))
