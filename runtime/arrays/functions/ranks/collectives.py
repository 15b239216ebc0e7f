"""The collective ops: each rank of a group gives an array, and has one that depends on all.

Note [Gradients over ranks]

Each rank calls ``backward()`` for a loss of its own, and what is differentiated is the sum of all ranks' losses. So
every op here is a linear map of what all ranks have together, and its gradient is the transposed map: of a sum that
all ranks get it is the sum of their gradients, of gathering it is the sum of which each rank gets a part, and of
sending it is receiving.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data

from .simulated import SimulatedRanks

Array: TypeAlias = NDArray[Any]


class Ranks(Protocol):
    """What a group of ranks can do with arrays. Each method returns a new array; part `r` of others is rank `r`'s."""

    size: int

    def all_reduce(self, x: Array) -> Array:
        """The sum."""

    def broadcast(self, x: Array, source: int) -> Array:
        """What one has."""

    def reduce(self, x: Array, target: int) -> Array:
        """The sum at one, zeros at the others."""

    def all_gather(self, x: Array) -> Array:
        """All arrays, one after the other along their first dimension."""

    def reduce_scatter(self, x: Array) -> Array:
        """A part of the sum."""

    def gather(self, x: Array, target: int) -> Array:
        """All arrays at one, zeros at the others."""

    def scatter(self, x: Array, source: int) -> Array:
        """A part of what one has."""

    def all_to_all(self, x: Array) -> Array:
        """A part of each array."""

    def shift(self, x: Array, steps: int, periodic: bool) -> Array:
        """What the rank so many before has; zeros where there is none."""

    def send_recv(self, x: Array, source: int, target: int) -> Array:
        """At one what another has, zeros everywhere else."""


def ranks_of(group: Any, x: Array) -> Ranks:
    """The ranks of a process group; a number stands for as many simulated ones, of which `x` has a row each."""
    if not isinstance(group, int):
        ranks: Ranks = group.ranks
        return ranks
    if x.shape[:1] != (group,):
        raise RuntimeError(
            f"for {group} simulated ranks the first dimension should be {group}, but the shape is {x.shape}"
        )
    return SimulatedRanks(group)


def length_of(op: str, x: Array, ranks: Ranks, divided: bool) -> int:
    """The size of the first dimension of one rank's array."""
    dims = x.shape[1:] if isinstance(ranks, SimulatedRanks) else x.shape
    if not dims:
        raise RuntimeError(f"{op}: a tensor without dimensions can't be joined or divided along the first one")
    if divided and dims[0] % ranks.size:
        raise RuntimeError(
            f"{op}: the first dimension is divided among the ranks, so its size should be a multiple of {ranks.size}, "
            f"but is {dims[0]}"
        )
    return int(dims[0])


def of_length(x: Array, ranks: Ranks, length: int) -> Array:
    """An array without data like `x`, with another first dimension for each rank."""
    at = 1 if isinstance(ranks, SimulatedRanks) else 0
    return array_without_data((*x.shape[:at], length, *x.shape[at + 1 :]), x.dtype)


# ---- the functions of the table. Where there are only shapes, nothing is sent


def all_reduce_of(x: Array, group: Any) -> Array:
    ranks = ranks_of(group, x)
    return array_without_data(x.shape, x.dtype) if has_no_data(x) else ranks.all_reduce(x)


def broadcast_from_of(x: Array, source: int, group: Any) -> Array:
    ranks = ranks_of(group, x)
    return array_without_data(x.shape, x.dtype) if has_no_data(x) else ranks.broadcast(x, source % ranks.size)


def reduce_to_of(x: Array, target: int, group: Any) -> Array:
    ranks = ranks_of(group, x)
    return array_without_data(x.shape, x.dtype) if has_no_data(x) else ranks.reduce(x, target % ranks.size)


def all_gather_of(x: Array, group: Any) -> Array:
    ranks = ranks_of(group, x)
    length = length_of("all_gather", x, ranks, divided=False)
    return of_length(x, ranks, length * ranks.size) if has_no_data(x) else ranks.all_gather(x)


def reduce_scatter_of(x: Array, group: Any) -> Array:
    ranks = ranks_of(group, x)
    length = length_of("reduce_scatter", x, ranks, divided=True)
    return of_length(x, ranks, length // ranks.size) if has_no_data(x) else ranks.reduce_scatter(x)


def gather_to_of(x: Array, target: int, group: Any) -> Array:
    ranks = ranks_of(group, x)
    length = length_of("gather", x, ranks, divided=False)
    return of_length(x, ranks, length * ranks.size) if has_no_data(x) else ranks.gather(x, target % ranks.size)


def scatter_from_of(x: Array, source: int, group: Any) -> Array:
    ranks = ranks_of(group, x)
    length = length_of("scatter", x, ranks, divided=True)
    return of_length(x, ranks, length // ranks.size) if has_no_data(x) else ranks.scatter(x, source % ranks.size)


def all_to_all_of(x: Array, group: Any) -> Array:
    ranks = ranks_of(group, x)
    length_of("all_to_all", x, ranks, divided=True)
    return array_without_data(x.shape, x.dtype) if has_no_data(x) else ranks.all_to_all(x)


def shift_ranks_of(x: Array, steps: int, periodic: bool, group: Any) -> Array:
    ranks = ranks_of(group, x)
    return array_without_data(x.shape, x.dtype) if has_no_data(x) else ranks.shift(x, steps, periodic)


def send_recv_of(x: Array, source: int, target: int, group: Any) -> Array:
    ranks = ranks_of(group, x)
    if has_no_data(x):
        return array_without_data(x.shape, x.dtype)
    return ranks.send_recv(x, source % ranks.size, target % ranks.size)
