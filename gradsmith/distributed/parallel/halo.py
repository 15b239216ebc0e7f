"""Grids that are divided among the ranks, as stencils and convolutions need them."""

from __future__ import annotations

from typing import Any

from gradsmith.distributed.nn import functional as collectives
from gradsmith.distributed.world import group_of
from gradsmith.generated import cat

__all__ = ["halo_exchange", "part_of"]


def halo_exchange(x: Any, width: int = 1, dim: int = 0, periodic: bool = False, group: Any = None) -> Any:
    """This rank's part of a grid with the neighbours' nearest rows on both sides.

    Parameters
    ----------
    x : Tensor
        Of the same shape for all ranks, which follow each other along `dim`.
    width : int
        Rows on each side, at most those of one rank.
    dim : int
    periodic : bool
        The first and the last rank are neighbours; otherwise there are zeros beyond the ends.
    group : ProcessGroup, optional
        Default: the world.

    Returns
    -------
    Tensor
        Larger by ``2 * width`` along `dim`. Its gradient is added to the rows from which it came, on whichever rank.

    Raises
    ------
    ValueError
        `width` is negative, or larger than the part of a rank.
    """
    group = group_of(group, "halo_exchange")
    size = x.shape[dim]
    if not 0 <= width <= size:
        raise ValueError(f"halo_exchange: width should be between 0 and the {size} rows of a rank, got {width}")
    if not width:
        return x
    before = collectives.shift(x.narrow(dim, size - width, width), 1, periodic, group)
    after = collectives.shift(x.narrow(dim, 0, width), -1, periodic, group)
    return cat([before, x, after], dim)


def part_of(x: Any, dim: int = 0, group: Any = None) -> Any:
    """This rank's part of a tensor that all ranks have, along a dimension that can be divided among them."""
    group = group_of(group, "part_of")
    if x.shape[dim] % group.size():
        raise RuntimeError(
            f"part_of: dimension {dim} of a tensor of shape {tuple(x.shape)} can't be divided among {group.size()} "
            f"ranks"
        )
    return x.chunk(group.size(), dim)[group.rank()]
