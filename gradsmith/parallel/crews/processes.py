"""Processes that are started for the purpose, one at the other end of each connection.

They run ``python -c``, so that nothing of the script runs again: a script needs no ``if __name__ == "__main__"``. What
is sent to a worker and what it answers is in messages.py. The end of a worker, whatever the reason, closes its
connection, which is all that is needed to notice it; and so it notices the end of this process.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing.connection
import os
import signal
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Iterable, Sequence

from gradsmith.parallel.crews.messages import FAILURE, FUNCTION, READY, TASK, Message, receive, send
from gradsmith.parallel.errors import Failure
from gradsmith.parallel.limits import share_of
from gradsmith.parallel.payloads import Payload, dumped, loaded
from gradsmith.parallel.settings import Settings
from gradsmith.parallel.tasks import Function, Lost, Outcome, Task

__all__ = ["Processes"]

GRACE = 1.0  # seconds that a worker has to end by itself
_PROGRAM = (
    "import json, sys; handle, path = sys.argv.pop(), sys.argv.pop(); sys.path[:] = json.loads(path); "
    "from gradsmith.parallel.crews.worker import main; main(int(handle))"
)
# Libraries read these when they are loaded; what the user has set holds.
_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Processes:
    """Worker processes, started when there is something to do for them."""

    def __init__(self, workers: int) -> None:
        if os.name != "posix":
            raise NotImplementedError(
                "backend='processes' needs a POSIX system; use threads, or a concurrent.futures.ProcessPoolExecutor"
            )
        self.size = workers
        self.workers: list[_Worker] = []
        self.functions = itertools.count(1)
        # When this object goes, and at the end of the program at the latest.
        self.finalizer = weakref.finalize(self, _end_in, os.getpid(), self.workers)

    def prepared(self, function: Function) -> Payload:
        return dumped((function, Settings.here()), lambda: f"f, {function!r},")

    def begin(self, prepared: Payload, total: int | None) -> None:
        self.function = Message(FUNCTION, next(self.functions), prepared)
        for worker in [worker for worker in self.workers if worker.process.poll() is not None]:
            self._remove(worker)
        wanted = self.size if total is None else min(self.size, total)
        while len(self.workers) < wanted:  # all at once: they start at the same time
            self.workers.append(_Worker(share_of(self.size)))

    def has_room(self) -> bool:
        return len(self.workers) < self.size or any(not worker.tasks for worker in self.workers)

    def start(self, tasks: Sequence[Task]) -> None:
        messages = [
            Message(TASK, task.number, dumped((task.args, task.seed), lambda: f"an argument of task {task.number}"))  # noqa: B023
            for task in tasks
        ]
        worker = next((worker for worker in self.workers if not worker.tasks), None)
        if worker is None:
            worker = _Worker(share_of(self.size))
            self.workers.append(worker)
        worker.tasks.extend(tasks)
        try:
            worker.give(self.function, messages)
        except OSError:  # it has ended, maybe in the middle of them: `wait` finds what it has answered, and its end
            worker.process.kill()

    def wait(self, seconds: float | None) -> list[Outcome | Lost]:
        by_connection = {worker.connection: worker for worker in self.workers if worker.tasks}
        ready = multiprocessing.connection.wait(list(by_connection), seconds)
        events = (self._event_of(by_connection[connection]) for connection in ready)  # type: ignore[index]
        return [event for event in events if event is not None]

    def _event_of(self, worker: _Worker) -> Outcome | Lost | None:
        try:
            message = receive(worker.connection)
        except (EOFError, OSError):
            return self._lost(worker)
        if message.kind == READY:
            worker.has_started = True
            return None
        worker.tasks.popleft()
        return _outcome_of(message)

    def _lost(self, worker: _Worker) -> Lost:
        self._remove(worker)
        reason = f"its process {worker.process.pid} {worker.how_it_ended()}"
        if not worker.has_started:
            reason += " while it was starting; what it has written to standard error may tell why"
        return Lost(list(worker.tasks), reason)

    def _remove(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        _end([worker])

    def finish(self) -> None:
        """Workers in the middle of a task are ended; the others wait for the next map."""
        busy = [worker for worker in self.workers if worker.tasks]
        self.workers[:] = [worker for worker in self.workers if not worker.tasks]
        _end(busy)

    def close(self) -> None:
        self.finalizer()


def _outcome_of(message: Message) -> Outcome:
    try:
        found = loaded(message.payload)
    except Exception as error:  # the worker can import something that this process cannot
        return Outcome(message.number, failure=Failure(error))
    return Outcome(message.number, failure=found) if message.kind == FAILURE else Outcome(message.number, found)


class _Worker:
    """A process as seen from here."""

    def __init__(self, threads: int) -> None:
        self.connection, other_end = multiprocessing.connection.Pipe()
        self.tasks: deque[Task] = deque()  # that it has been given and has not answered; it is at the first
        self.has_function = 0
        self.has_started = False
        with other_end:
            self.process = subprocess.Popen(
                [sys.executable, *_flags(), "-c", _PROGRAM, json.dumps(_path()), str(other_end.fileno())],
                stdin=subprocess.DEVNULL, env=_environment(threads), pass_fds=[other_end.fileno()],
            )  # fmt: skip

    def give(self, function: Message, tasks: Iterable[Message]) -> None:
        if self.has_function != function.number:
            send(self.connection, function)
            self.has_function = function.number
        for task in tasks:
            send(self.connection, task)

    def how_it_ended(self) -> str:
        code = self.process.wait()
        if code >= 0:
            return f"ended with exit code {code}"
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"


def _flags() -> list[str]:
    """The flags that this interpreter was started with, such as ``-O`` and ``-W``."""
    return subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined,no-any-return]


def _path() -> list[str]:
    return [place for place in sys.path if isinstance(place, str)]


def _environment(threads: int) -> dict[str, str]:
    return {**dict.fromkeys(_LIMITS, str(threads)), **os.environ, "GRADSMITH_NUM_THREADS": str(threads)}


# ---- the end


def _end_in(process: int, workers: list[_Worker]) -> None:
    """`_end`, but not in a fork of the process that started them."""
    if os.getpid() == process:
        _end(workers)
        workers.clear()


def _end(workers: Sequence[_Worker]) -> None:
    """Those that wait end by themselves when the connection is closed; the others at once."""
    for worker in workers:
        if worker.tasks:
            worker.process.terminate()
        worker.connection.close()
    deadline = time.monotonic() + GRACE
    for worker in workers:
        try:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
