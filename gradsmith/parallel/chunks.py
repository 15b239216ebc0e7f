"""Tasks for workers of other packages: what is sent is one pickle, which any of them can pass on."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradsmith.parallel.errors import Failure, RemoteError
from gradsmith.parallel.payloads import Payload, dumped, loaded
from gradsmith.parallel.settings import Settings
from gradsmith.parallel.tasks import Function, Outcome, Task, run_task

__all__ = ["Sent", "run_chunk", "sendable_failure", "sent_task", "unpacked"]

_KEPT = 4  # functions; each of a map, so that they are loaded once
_functions: OrderedDict[bytes, tuple[Function, Settings]] = OrderedDict()


def packed(value: Any, what: str) -> bytes:
    return dumped(value, lambda: what, in_one_piece=True).head


def unpacked(data: bytes) -> Any:
    return loaded(Payload(data))


class Sent(NamedTuple):
    """A function as workers take it, pickled once for all tasks. By its name they know whether they have it."""

    name: bytes
    function: bytes

    @classmethod
    def of(cls, function: Function, threads: int | None) -> Sent:
        return cls(os.urandom(16), packed((function, Settings.here(threads)), f"f, {function!r},"))


def sent_task(task: Task) -> bytes:
    return packed((task.number, packed(task.args, f"an argument of task {task.number}"), task.seed), "a task")


# ---- in a worker


def run_chunk(name: bytes, function: bytes, tasks: Sequence[bytes]) -> list[bytes]:
    """What has come of some tasks."""
    return [_answer(name, function, task) for task in tasks]


def _answer(name: bytes, function: bytes, data: bytes) -> bytes:
    index, args, seed = unpacked(data)
    try:
        call, settings = _loaded(name, function)
        with settings.applied():
            outcome = run_task(call, Task(index, unpacked(args), seed))
        if outcome.failure is None:
            return packed(outcome, f"the result of task {index}")
        error = outcome.failure.error
    except BaseException as raised:
        error = raised
    return packed(Outcome(index, failure=sendable_failure(error)), "the exception")


def _loaded(name: bytes, function: bytes) -> tuple[Function, Settings]:
    if name not in _functions:
        _functions[name] = unpacked(function)
        while len(_functions) > _KEPT:
            _functions.popitem(last=False)
    return _functions[name]


def sendable_failure(error: BaseException) -> Failure:
    """The exception of a task of this process, or a stand-in if it cannot be pickled."""
    failure = Failure.remote(error)
    try:
        unpacked(packed(failure, "the exception"))  # classes that want other arguments than they keep fail here
    except BaseException:
        text = f"{type(error).__name__}: {error}, which cannot be pickled:\n{failure.text}"
        return Failure(RemoteError(text), failure.text)
    return failure
