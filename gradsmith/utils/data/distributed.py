"""The share of one of several processes that train together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from gradsmith.runtime.tensors.factories.random import Generator, randperm
from gradsmith.utils.data.sampler import Sampler, T

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[T]):
    """Every `num_replicas`-th number, so that processes have different ones.

    Parameters
    ----------
    dataset : sized
    num_replicas : int, optional
        How many processes there are. Default: those of the process group.
    rank : int, optional
        Which of them this is. Default: its rank there.
    shuffle : bool, default True
        In an order that is the same for all processes, and another one in each epoch; see `set_epoch`.
    seed : int, default 0
        The same for all processes.
    drop_last : bool, default False
        Leave numbers out so that all processes have as many; otherwise some come twice.

    Raises
    ------
    RuntimeError
        `num_replicas` or `rank` is not given, and there is no process group.
    ValueError
        `rank` is not below `num_replicas`.

    Examples
    --------
    >>> from gradsmith.utils.data import DistributedSampler
    >>> [list(DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            size, own = _world()
            num_replicas, rank = size if num_replicas is None else num_replicas, own if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else -(-count // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[Any]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            order = randperm(count, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        if count:
            order = (order * -(-self.total_size // count))[: self.total_size]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch, before it begins."""
        self.epoch = epoch


def _world() -> tuple[int, int]:
    """The size of the process group and the rank in it, if the program has one."""
    world = sys.modules.get("gradsmith.distributed.world")
    if world is None or not world.is_initialized():
        raise RuntimeError(
            "DistributedSampler: num_replicas and rank should be given, since there is no process group to ask: "
            "call distributed.init_process_group first"
        )
    return world.get_world_size(), world.get_rank()
