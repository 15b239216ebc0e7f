"""An executor of the user's: of concurrent.futures, mpi4py.futures, loky, Dask."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import queue
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradsmith.parallel.chunks import Sent, run_chunk, sent_task, unpacked
from gradsmith.parallel.errors import Failure
from gradsmith.parallel.limits import share_of
from gradsmith.parallel.tasks import Function, Lost, Outcome, Task, run_task
from gradsmith.runtime.switches.threads import StateOfThread

__all__ = ["Executor", "executor_crew"]


def executor_crew(executor: Any, workers: int | None) -> Any:
    """The crew of an executor, or of a Dask client."""
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "get_executor"):
        from gradsmith.parallel.crews.dask import client_crew

        return client_crew(executor, workers)
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "backend is the name of one, a concurrent.futures.Executor, a Dask Client or a gradsmith.parallel.Pool, "
            f"got {type(executor).__name__}"
        )
    is_of_threads = isinstance(executor, concurrent.futures.ThreadPoolExecutor)
    size = workers or _size_of(executor)
    return Executor(executor.submit, size, in_line=workers is None, is_of_threads=is_of_threads)


def _size_of(executor: Any) -> int:
    size = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    return size if isinstance(size, int) and size > 0 else os.cpu_count() or 1


class _Here(NamedTuple):
    """A function as threads of this process take it."""

    function: Function
    state: StateOfThread

    def run(self, tasks: Sequence[Task]) -> list[Outcome]:
        return [self.state.run(run_task, self.function, task) for task in tasks]


class Executor:
    """Tasks in an executor, which stays open. It may be busy with other things, so as many again are kept in line."""

    def __init__(
        self,
        submit: Callable[..., Any],
        workers: int,
        *,
        in_line: bool,
        is_of_threads: bool = False,
        may_be_tried_again: bool = False,
        at_end: contextlib.ExitStack | None = None,
    ) -> None:
        self.submit = submit
        self.size = workers * (2 if in_line else 1)
        self.threads = share_of(workers)
        self.is_of_threads = is_of_threads
        self.may_be_tried_again = may_be_tried_again
        self.at_end = at_end or contextlib.ExitStack()
        self.running: dict[Any, Sequence[Task]] = {}

    def prepared(self, function: Function) -> Sent | _Here:
        return _Here(function, StateOfThread()) if self.is_of_threads else Sent.of(function, self.threads)

    def begin(self, prepared: Sent | _Here, total: int | None) -> None:
        self.call = prepared
        self.outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.is_broken = False

    def has_room(self) -> bool:
        return len(self.running) < self.size and not self.is_broken

    def start(self, tasks: Sequence[Task]) -> None:
        try:
            future = self._submitted(tasks)
        except concurrent.futures.BrokenExecutor as error:
            self.is_broken = True
            self.outbox.put(Lost(tasks, _reason(error), may_be_tried_again=False))
            return
        self.running[future] = tasks
        future.add_done_callback(self.outbox.put)

    def _submitted(self, tasks: Sequence[Task]) -> Any:
        if isinstance(self.call, _Here):
            return self.submit(self.call.run, tasks)
        return self.submit(run_chunk, *self.call, [sent_task(task) for task in tasks])

    def wait(self, seconds: float | None) -> list[Outcome | Lost]:
        try:
            done = self.outbox.get(timeout=seconds)
        except queue.Empty:
            return []
        if isinstance(done, Lost):
            return [done]
        tasks = self.running.pop(done)
        error = concurrent.futures.CancelledError() if done.cancelled() else done.exception()
        if error is not None:
            return self._events_of(error, tasks)
        return [unpacked(one) if isinstance(one, bytes) else one for one in done.result()]

    def _events_of(self, error: BaseException, tasks: Sequence[Task]) -> list[Outcome | Lost]:
        """A worker, or the whole executor, has ended; or it cannot even begin with what it is given."""
        if is_loss(error):
            return [Lost(tasks, _reason(error) + of_chunk(tasks), self.may_be_tried_again)]
        return [Outcome(task.number, failure=Failure(error)) for task in tasks]

    def finish(self) -> None:
        for future in list(self.running):
            future.cancel()
        self.running.clear()

    def close(self) -> None:
        self.finish()
        self.at_end.close()


def is_loss(error: BaseException) -> bool:
    """Does it say that a worker has ended? Of Dask by name: it need not be installed."""
    lost = (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError)
    return isinstance(error, lost) or type(error).__name__ in ("KilledWorker", "FutureCancelledError")


def of_chunk(tasks: Sequence[Task]) -> str:
    """Nobody says which task of a chunk ended the worker: that the first did is a guess until it is tried alone."""
    return "" if len(tasks) == 1 else f", in a chunk with the {len(tasks) - 1} tasks after it"


def _reason(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else f"the executor says {type(error).__name__}"
    if isinstance(error, concurrent.futures.BrokenExecutor):
        text += (
            ". An executor whose process has ended takes no more tasks: make a new one, or use backend='processes', "
            'which goes on. If none of its processes starts, the script may need `if __name__ == "__main__":` around '
            "what starts them"
        )
    return text
