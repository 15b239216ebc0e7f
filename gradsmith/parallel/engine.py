"""What happens to the tasks of one map: they are handed out, tried again when they are lost, and put in order.

It works in the thread of the caller. Who does the tasks is a crew, see crews/; all of them look alike to the engine.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from gradsmith.parallel.errors import Cancelled, TaskLost
from gradsmith.parallel.progress import Progress, progress_of
from gradsmith.parallel.tasks import Function, Lost, Outcome, Task

POLLING = 0.05  # seconds between looks at an event that cancels


class Crew(Protocol):
    """Workers. One map after the other uses them."""

    size: int

    def prepared(self, function: Function) -> Any:
        """The function as `begin` takes it, to be called in the state that the calling thread is in now."""

    def begin(self, prepared: Any, total: int | None) -> None:
        """The tasks from now on are calls of this function."""

    def has_room(self) -> bool:
        """Can it start more tasks?"""

    def start(self, tasks: Sequence[Task]) -> None:
        """Let a worker do these tasks, one after the other."""

    def wait(self, seconds: float | None) -> list[Outcome | Lost]:
        """What has come of tasks, as soon as there is anything; nothing if that takes longer."""

    def finish(self) -> None:
        """The map has ended. Tasks that have not are given up."""

    def close(self) -> None:
        """End the workers."""


class Options(NamedTuple):
    """What a user asks for."""

    chunksize: int = 1
    retries: int = 2
    timeout: float | None = None
    progress: Any = None
    cancel: Any = None


class Engine:
    """One map."""

    def __init__(self, crew: Crew, tasks: Iterator[Task], total: int | None, options: Options, ahead: int | None):
        self.crew, self.options, self.total, self.ahead = crew, options, total, ahead
        self.tasks = tasks
        self.again: deque[list[Task]] = deque()  # what was lost
        self.lost: Counter[int] = Counter()  # how often
        self.running: set[int] = set()
        self.done = 0
        self.wanted = 0  # the first task whose result nobody has taken
        self.deadline = None if options.timeout is None else time.monotonic() + options.timeout
        self.progress: Progress = progress_of(options.progress, total)

    def outcomes(self) -> Iterator[Outcome]:
        """In the order in which they come. Whoever stops early ends the map."""
        try:
            self._check()
            self._fill()
            while self.running:
                for event in self.crew.wait(self._patience()):
                    self._check_cancelled()  # `progress`, or whoever took the last outcome, may have
                    if isinstance(event, Lost):
                        self._take_back(event)
                    else:
                        self._count(event)
                        yield event
                self._check()
                self._fill()
        finally:
            self.progress.close()
            self.crew.finish()

    def in_order(self) -> Iterator[Outcome]:
        """In the order of the tasks."""
        waiting: dict[int, Outcome] = {}
        outcomes = self.outcomes()
        try:
            for outcome in outcomes:
                waiting[outcome.number] = outcome
                while self.wanted in waiting:
                    self.wanted += 1
                    yield waiting.pop(self.wanted - 1)
        finally:
            outcomes.close()  # type: ignore[attr-defined]

    # -- handing out

    def _fill(self) -> None:
        while self.crew.has_room():
            chunk = self._next_chunk()
            if not chunk:
                return
            self.running.update(task.number for task in chunk)
            self.crew.start(chunk)

    def _next_chunk(self) -> list[Task]:
        if self.again:
            return self.again.popleft()
        started = self.done + len(self.running)
        if self.ahead is not None and started - self.wanted >= self.ahead:
            return []
        return list(itertools.islice(self.tasks, self.options.chunksize))

    # -- what has come

    def _count(self, outcome: Outcome) -> None:
        self.running.discard(outcome.number)
        self.done += 1
        self.progress()

    def _take_back(self, event: Lost) -> None:
        """The task that the worker was at is tried again, alone: it may end the next one too."""
        first, rest = event.tasks[0], list(event.tasks[1:])
        self.lost[first.number] += 1
        tries = self.lost[first.number]
        if not event.may_be_tried_again or tries > self.options.retries:
            times = "" if tries == 1 else f", {tries} times"
            raise TaskLost(f"task {first.number} was lost{times}: {event.reason}", first.number)
        self.running.difference_update(task.number for task in event.tasks)
        self.again.extend(filter(None, ([first], rest)))

    # -- the end before the end

    def _patience(self) -> float | None:
        limits = [POLLING] if self.options.cancel is not None else []
        if self.deadline is not None:
            limits.append(max(0.0, self.deadline - time.monotonic()))
        return min(limits, default=None)

    def _check(self) -> None:
        self._check_cancelled()
        if self.deadline is not None and self.running and time.monotonic() >= self.deadline:
            raise TimeoutError(
                f"task {min(self.running)} has given nothing within the timeout of {self.options.timeout:g} seconds, "
                f"with {self._so_far()}"
            )

    def _check_cancelled(self) -> None:
        if self.options.cancel is not None and self.options.cancel.is_set():
            raise Cancelled(f"cancelled with {self._so_far()}")

    def _so_far(self) -> str:
        return f"{self.done} tasks done" if self.total is None else f"{self.done} of {self.total} tasks done"
