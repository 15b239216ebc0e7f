"""Groups that divide the ranks among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from gradsmith.distributed.world import get_process_group_ranks, get_rank, neighbours, new_group

__all__ = ["new_subgroups", "new_subgroups_by_enumeration"]


def new_subgroups(
    group_size: int | None = None,
    group: Any = None,
    timeout: timedelta | float | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of as many ranks each, in their order. All ranks of the world call it.

    Parameters
    ----------
    group_size : int, optional
        Default: the ranks of a machine.
    group : ProcessGroup, optional
        Which is divided. Default: the world.
    timeout, backend, pg_options, group_desc : optional
        As for `new_group`.

    Returns
    -------
    ProcessGroup
        The one that this rank is in.
    list
        All; those of the others are `GroupMember.NON_GROUP_MEMBER`.

    Raises
    ------
    ValueError
        The ranks cannot be divided so.
    """
    ranks = get_process_group_ranks(group)
    size = neighbours() if group_size is None else group_size
    if size <= 0 or len(ranks) % size:
        raise ValueError(f"new_subgroups: {len(ranks)} ranks cannot be divided into groups of {size}; give group_size")
    parts = [ranks[i : i + size] for i in range(0, len(ranks), size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | float | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of these ranks. All ranks of the world call it.

    Parameters
    ----------
    ranks_per_subgroup_list : sequence of sequence of int
    timeout, backend, pg_options, group_desc : optional
        As for `new_group`.

    Returns
    -------
    ProcessGroup
        The one that this rank is in, or None.
    list
        All; those of the others are `GroupMember.NON_GROUP_MEMBER`.

    Raises
    ------
    ValueError
        There are none, or a rank is in two.
    """
    parts = [list(ranks) for ranks in ranks_per_subgroup_list or ()]
    everyone = [rank for part in parts for rank in part]
    twice = sorted({rank for rank in everyone if everyone.count(rank) > 1})
    if not parts or twice:
        found = f"rank {twice[0]} is in two" if twice else "it is empty"
        raise ValueError(f"new_subgroups_by_enumeration: ranks_per_subgroup_list should divide ranks, but {found}")
    groups = [new_group(part, timeout, backend, pg_options, group_desc=group_desc) for part in parts]
    own = [group for part, group in zip(parts, groups) if get_rank() in part]
    return own[0] if own else None, groups
