"""One pass over a loader: in the thread that asks, or with workers that are ahead of it."""

from __future__ import annotations

import queue
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from gradsmith.utils.data.worker import Exhausted, Failure, Fetcher, Plan
from gradsmith.utils.data.workers import PATIENCE


class PassIterator:
    """Counts batches, and warns of a dataset that has more samples than it said."""

    def __init__(self, plan: Plan, indices: Iterator[Any], expected: int | None) -> None:
        self.plan, self.indices, self.expected = plan, indices, expected
        self.count = 0

    def __iter__(self) -> PassIterator:
        return self

    def __next__(self) -> Any:
        batch = self._next()
        self.count += 1
        if self.expected is not None and self.count > self.expected and self.plan.is_iterable:
            warnings.warn(
                f"Length of IterableDataset {self.plan.dataset} was reported to be {self.expected} (when accessing "
                f"len(dataloader)), but {self.count} samples have been fetched.",
                stacklevel=2,
            )
        return batch

    def _next(self) -> Any:
        raise NotImplementedError


class SingleIterator(PassIterator):
    """Makes each batch when it is asked for."""

    def __init__(self, plan: Plan, indices: Iterator[Any], expected: int | None) -> None:
        super().__init__(plan, indices, expected)
        self.fetch = Fetcher(plan)

    def _next(self) -> Any:
        batch = self.fetch(next(self.indices))
        if isinstance(batch, Exhausted):
            raise StopIteration
        return batch


class WorkersIterator(PassIterator):
    """Takes batches from workers, of which each has some numbers to work at ahead.

    Batch i is made by the worker whose turn it was when its number was given out, and comes in its place, whichever is
    ready first; without `in_order` the first that is ready comes. Results of a pass that was not gone through to its
    end arrive in the next one, and are known by its number.
    """

    def __init__(
        self, plan: Plan, indices: Iterator[Any], expected: int | None, workers: Any, current: int, ahead: int,
        timeout: float, in_order: bool, keeps_workers: bool,
    ) -> None:  # fmt: skip
        super().__init__(plan, indices, expected)
        self.workers, self.current = workers, current
        self.timeout, self.in_order = timeout, in_order
        self.keeps_workers = keeps_workers
        self.stop = None if keeps_workers else weakref.finalize(self, workers.stop)
        self.active = [True] * len(workers.tasks)
        self.turn = 0
        self.sent, self.taken = 0, 0
        self.worker_of: dict[int, int] = {}  # of numbers that have been given out and not been taken
        self.ready: dict[int, Any] = {}
        for _ in range(ahead * len(self.active)):
            self._send()

    def _send(self) -> None:
        """Give out the next number to the next worker that has not come to its end."""
        count = len(self.active)
        worker = next(((self.turn + i) % count for i in range(count) if self.active[(self.turn + i) % count]), None)
        if worker is None:
            return
        try:
            indices = next(self.indices)
        except StopIteration:
            return
        self.turn = worker + 1
        self.workers.send(worker, (self.current, self.sent, indices))
        self.worker_of[self.sent] = worker
        self.sent += 1

    def _next(self) -> Any:
        while True:
            number = self._due()
            if number is None:
                self._end()
                raise StopIteration
            if number in self.ready:
                return self._handed_out(number)
            self._receive()

    def _due(self) -> int | None:
        """The number of the next batch; None when there is none."""
        if not self.in_order and self.ready:
            return min(self.ready)
        while self.taken < self.sent:
            if self.taken in self.worker_of:
                return self.taken
            self.taken += 1
        return None

    def _handed_out(self, number: int) -> Any:
        del self.worker_of[number]
        result = self.ready.pop(number)
        self._send()
        if isinstance(result, Failure):
            raise result.error()
        return result

    def _receive(self) -> None:
        current, number, worker, result = self._wait()
        if current != self.current:
            return
        if isinstance(result, Exhausted):
            self.active[worker] = False
            del self.worker_of[number]
            self._send()
        else:
            self.ready[number] = result

    def _wait(self) -> Any:
        end = time.monotonic() + self.timeout if self.timeout else None
        while True:
            rest = PATIENCE if end is None else min(PATIENCE, max(end - time.monotonic(), 0.0))
            try:
                return self.workers.receive(rest)
            except queue.Empty:
                lost = self.workers.lost()
                if lost is not None:
                    self._end()
                    raise RuntimeError(f"DataLoader worker ({lost}) exited unexpectedly") from None
                if end is not None and time.monotonic() >= end:
                    raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None

    def _end(self) -> None:
        if self.stop is not None:
            self.stop()
