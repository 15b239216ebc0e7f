"""Threads of this process, which take over everything that the calling thread has switched on."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Sequence

from gradsmith.parallel.errors import Failure
from gradsmith.parallel.limits import limited, share_of
from gradsmith.parallel.tasks import Function, Lost, Outcome, Task, run_task
from gradsmith.runtime.switches.threads import StateOfThread

__all__ = ["Threads"]


class _Shift:
    """One map: what its threads read from and write to. Of a map that was given up, nobody looks at it any more."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.state = StateOfThread()
        self.inbox: queue.SimpleQueue[Sequence[Task] | None] = queue.SimpleQueue()
        self.outbox: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self.is_over = False

    def work(self) -> None:
        while (tasks := self.inbox.get()) is not None:
            for task in tasks:
                if self.is_over:
                    return
                self.outbox.put(self._outcome_of(task))

    def _outcome_of(self, task: Task) -> Outcome:
        """Whatever happens, there is one: the caller waits for it."""
        try:
            outcome: Outcome = self.state.run(run_task, self.function, task)
        except BaseException as error:
            return Outcome(task.number, failure=Failure(error))
        return outcome


class Threads:
    """Threads that live as long as a map: they are started in less time than most tasks take.

    They are daemons, so that a program can end while a task that was given up goes on.
    """

    def __init__(self, workers: int) -> None:
        self.size = workers
        self.shift: _Shift | None = None
        self.limit = contextlib.ExitStack()

    def prepared(self, function: Function) -> _Shift:
        return _Shift(function)

    def begin(self, prepared: _Shift, total: int | None) -> None:
        self.shift = prepared
        self.threads: list[threading.Thread] = []
        self.left_of: dict[int, list[int]] = {}  # task -> how many of its chunk are left, the same list for all of them
        self.n_busy = 0
        self.limit.enter_context(limited(share_of(self.size)))

    def has_room(self) -> bool:
        return self.n_busy < self.size

    def start(self, tasks: Sequence[Task]) -> None:
        shift = self.shift
        assert shift is not None
        self.n_busy += 1
        left = [len(tasks)]
        self.left_of.update((task.number, left) for task in tasks)
        if len(self.threads) < self.n_busy:
            name = f"gradsmith-parallel-{len(self.threads)}"
            thread = threading.Thread(target=shift.work, name=name, daemon=True)
            self.threads.append(thread)
            thread.start()
        shift.inbox.put(tasks)

    def wait(self, seconds: float | None) -> list[Outcome | Lost]:
        assert self.shift is not None
        try:
            outcome = self.shift.outbox.get(timeout=seconds)
        except queue.Empty:
            return []
        left = self.left_of.pop(outcome.number)
        left[0] -= 1
        self.n_busy -= not left[0]
        return [outcome]

    def finish(self) -> None:
        shift, self.shift = self.shift, None
        if shift is None:
            return
        shift.is_over = True
        for _ in self.threads:
            shift.inbox.put(None)
        if not self.n_busy:
            for thread in self.threads:
                thread.join()
        self.limit.close()

    def close(self) -> None:
        self.finish()
