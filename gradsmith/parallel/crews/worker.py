"""A worker process: it takes functions and tasks, and gives results, until its other end is closed."""

from __future__ import annotations

import contextlib
import os
import queue
import random
import signal
import sys
import threading
from multiprocessing.connection import Connection

import numpy as np

from gradsmith.parallel.chunks import sendable_failure
from gradsmith.parallel.crews.messages import FAILURE, FUNCTION, READY, VALUE, Message, receive, send
from gradsmith.parallel.payloads import Payload, dumped, loaded
from gradsmith.parallel.settings import Settings
from gradsmith.parallel.tasks import Function, Task, run_task


def main(handle: int) -> None:
    """Work for the process at the other end of a connection."""
    # Ctrl-C reaches all processes of a terminal. The one that waits for the results decides what it means. A handler of
    # Python's is not passed on to programs that a task starts, as ignoring it would be.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    connection = Connection(handle)
    worker = _Worker(connection)
    threading.Thread(target=worker.listen, name="gradsmith-listener", daemon=True).start()
    send(connection, Message(READY))
    worker.work()


class _Worker:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.is_busy = False
        self.call = _Call(Payload(b""))

    def listen(self) -> None:
        """In a thread of its own, so that the end of the other process ends this one in the middle of a task."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                self.inbox.put(receive(self.connection))
        if self.is_busy or not self.inbox.empty():
            os._exit(1)
        self.inbox.put(None)

    def work(self) -> None:
        while (message := self.inbox.get()) is not None:
            self.is_busy = True
            if message.kind == FUNCTION:
                self.call = _Call(message.payload)
            else:
                answer = answer_of(self.call, message.number, message.payload)
                sys.stdout.flush()
                with contextlib.suppress(OSError):  # the other end has closed
                    send(self.connection, answer)
            self.is_busy = False


class _Call:
    """The function and the settings of the map that runs, loaded by the first task: an error is that task's."""

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.found: tuple[Function, Settings] | None = None

    def loaded(self) -> tuple[Function, Settings]:
        if self.found is None:
            self.found = loaded(self.payload)
        return self.found


def answer_of(call: _Call, index: int, payload: Payload) -> Message:
    """What has come of a task."""
    try:
        function, settings = call.loaded()
        args, seed = loaded(payload)
        _seed_others(seed)
        with settings.applied():
            outcome = run_task(function, Task(index, args, seed))
        if outcome.failure is not None:
            return _failed(index, outcome.failure.error)
        return Message(VALUE, index, dumped(outcome.value, lambda: f"the result of task {index}"))
    except BaseException as error:
        return _failed(index, error)


def _seed_others(seed: int) -> None:
    """Python's and NumPy's own generators, which belong to the process."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))


def _failed(index: int, error: BaseException) -> Message:
    return Message(FAILURE, index, dumped(sendable_failure(error), lambda: "the exception"))
