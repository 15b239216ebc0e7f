"""The calling thread itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from gradsmith.parallel.tasks import Function, Lost, Outcome, Task, run_task
from gradsmith.runtime.switches.threads import StateOfThread

__all__ = ["Serial"]


class Serial:
    """One task at a time, without another thread: for debuggers and profilers."""

    def __init__(self, workers: int) -> None:
        self.size = 1
        self.tasks: deque[Task] = deque()

    def prepared(self, function: Function) -> tuple[Function, StateOfThread]:
        return function, StateOfThread()

    def begin(self, prepared: tuple[Function, StateOfThread], total: int | None) -> None:
        self.function, self.state = prepared

    def has_room(self) -> bool:
        return not self.tasks

    def start(self, tasks: Sequence[Task]) -> None:
        self.tasks.extend(tasks)

    def wait(self, seconds: float | None) -> list[Outcome | Lost]:
        return [self.state.run(run_task, self.function, self.tasks.popleft())]

    def finish(self) -> None:
        self.tasks.clear()

    def close(self) -> None:
        self.tasks.clear()
