"""Ranks with fewer inputs than the others: they take part in what the others do until all are done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradsmith.distributed.ddp.data_parallel import DistributedDataParallel

__all__ = ["Join"]


class Join:
    """What ``module.join()`` returns; see `DistributedDataParallel.join`."""

    def __init__(self, module: DistributedDataParallel, divides_by_all: bool, is_enabled: bool, raises: bool) -> None:
        self._module, self._divides_by_all = module, divides_by_all
        self._is_enabled, self._raises = is_enabled, raises
        self._source = 0  # a rank that had inputs the last time that any had, which all ranks see

    def __enter__(self) -> Join:
        if self._is_enabled:
            self._module.joining = self
        return self

    def __exit__(self, kind: Any, error: Any, at: Any) -> None:
        if not self._is_enabled:
            return
        self._module.joining = None
        if kind is None:
            self._follow()
        self._module.reducer.divisor = self._module.process_group.size()

    def announce(self) -> None:
        """Before each forward: this rank has an input.

        Raises
        ------
        RuntimeError
            Another rank has none, and all should stop then.
        """
        states = self._exchange(1, self._module.reducer.syncs)
        if self._raises and not states[:, 0].all():
            raise RuntimeError("join: a rank has no more inputs, and throw_on_early_termination is True")
        self._use(states)

    def _follow(self) -> None:
        """This rank has no more inputs."""
        module = self._module
        while True:
            states = self._exchange(0, False)
            if not states[:, 0].any():
                break
            if self._raises:
                raise RuntimeError(
                    "join: this rank has no more inputs, others have, and throw_on_early_termination is True"
                )
            self._use(states)
            if states[self._source, 1]:
                module.broadcast_buffers_of(self._source)
                module.reducer.take_part()
        module.copy_parameters_of(self._source)

    def _exchange(self, is_active: int, syncs: bool) -> Any:
        group = self._module.process_group
        states = np.empty((group.size(), 2), np.int64)
        group.ranks.start_all_gather(states, np.array([is_active, syncs], np.int64)).wait()
        return states

    def _use(self, states: Any) -> None:
        """Averages are over all ranks, or over those that have inputs; buffers come from the first of these."""
        self._module.reducer.divisor = len(states) if self._divides_by_all else int(states[:, 0].sum())
        self._module.source = self._source = int(np.flatnonzero(states[:, 0])[0])
