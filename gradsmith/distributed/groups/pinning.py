"""The cores of a machine, divided among the ranks that run on it."""

from __future__ import annotations

import contextlib
import os
from typing import Any

__all__ = ["own_cores", "pin", "share_cores"]


def share_cores(comm: Any) -> int:
    """Pin this process to its share of the cores, and return how many they are.

    A launcher that has pinned the ranks knows better: where the cores of the ranks differ they stay as they are. With
    more ranks than cores each has one thread, and the system decides where it runs.
    """
    mpi_node = comm.Split_type(_shared_memory())
    try:
        own = own_cores()
        everyone = mpi_node.allgather(own)
        if any(cores != own for cores in everyone):
            return len(own)
        share = len(own) // int(mpi_node.size)
        if share:
            first = share * mpi_node.rank
            pin(own[first : first + share])
        return max(share, 1)
    finally:
        mpi_node.Free()


def _shared_memory() -> Any:
    import mpi4py.MPI

    return mpi4py.MPI.COMM_TYPE_SHARED


def pin(cores: list[int]) -> None:
    """Let this process run on these cores, where the system knows how."""
    with contextlib.suppress(AttributeError, OSError):  # not everywhere, and not in every container
        os.sched_setaffinity(0, cores)


def own_cores() -> list[int]:
    """The cores on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
