"""Helper threads, for backward inside backward deeper than one thread's stack reaches; and what goes along to them.

Everything a thread has switched on or off (recording, hooks of saved tensors, and so on) holds for the work that it
hands to a helper. A module that keeps such a switch registers how it is read and set.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections.abc import Callable
from typing import Any

from gradsmith.runtime.switches.decorators import decorate
from gradsmith.runtime.switches.truth import truth_of

_Switch = tuple[Callable[[], Any], Callable[[Any], Any]]
_switches: list[_Switch] = []
_switches_while_waiting: list[_Switch] = []


def register_switch(get: Callable[[], Any], put: Callable[[Any], Any], *, only_while_waiting: bool = False) -> None:
    """Let other threads take over what `get` returns in the thread they work for, by ``put(value)``.

    With `only_while_waiting` that is valid no longer than this thread waits for the other one.
    """
    (_switches_while_waiting if only_while_waiting else _switches).append((get, put))


class _MultiThreading(threading.local):
    enabled = True


_multithreading = _MultiThreading()


def is_multithreading_enabled() -> bool:
    """True unless `set_multithreading_enabled` has told the engine to stay in this thread."""
    return _multithreading.enabled


def _put_multithreading(mode: bool) -> None:
    _multithreading.enabled = mode


register_switch(is_multithreading_enabled, _put_multithreading)


class ThreadSwitch:
    """Base of switches of one thread: set when called, back at the end of a ``with`` block; also a decorator."""

    @staticmethod
    def _get() -> bool:
        raise NotImplementedError

    @staticmethod
    def _put(mode: bool, /) -> object:
        raise NotImplementedError

    def __init__(self, mode: bool = True) -> None:
        self.mode = truth_of(mode, type(self).__name__, "mode")
        self.before = self._get()
        self._put(self.mode)

    def __enter__(self) -> None:
        self._put(self.mode)

    def __exit__(self, *exc_info: object) -> None:
        self._put(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self._put(self.before)
        return decorate(lambda: type(self)(self.mode), function)


class set_multithreading_enabled(ThreadSwitch):
    """Let backward use threads of its own in this thread, or forbid it.

    The engine works in the thread that calls it. It needs another one only for a backward that was started by a hook
    of a backward, dozens of levels deep. Where that is forbidden, Python's limit of recursion ends it.

    Parameters
    ----------
    mode : bool
        True allows it, which is what holds at first.
    """

    _get = staticmethod(is_multithreading_enabled)
    _put = staticmethod(_put_multithreading)


class StateOfThread:
    """Everything that is switched on or off in the thread that makes it, and its context variables, for other threads.

    Parameters
    ----------
    is_shared : bool
        This thread waits for the other one, for which a list that a switch keeps is the same: it may change it.
        Otherwise any number of threads may have the state at once, each with lists of its own, and longer than this
        thread waits.
    """

    def __init__(self, is_shared: bool = False) -> None:
        self.is_shared = is_shared
        self.switches = [(put, self._value(get())) for get, put in self._taken_over()]
        self.context = contextvars.copy_context()

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``function(*arguments)`` in this thread as if it were the other one."""
        own = [(put, get()) for get, put in self._taken_over()]
        try:
            for put, value in self.switches:
                put(self._value(value))
            return self.context.copy().run(function, *arguments)
        finally:
            for put, value in own:
                put(value)

    def _value(self, found: Any) -> Any:
        return list(found) if type(found) is list and not self.is_shared else found

    def _taken_over(self) -> list[_Switch]:
        return _switches + _switches_while_waiting if self.is_shared else _switches


class _Job:
    """A call for a helper, and what came of it."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function = function
        self.arguments = arguments
        self.state = StateOfThread(is_shared=True)
        self.error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.state.run(self.function, *self.arguments)
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


class _Helper:
    """A thread that does one job after the other."""

    def __init__(self) -> None:
        self.wake = threading.Semaphore(0)
        self.job: _Job | None = None
        threading.Thread(target=self._work, name="gradsmith-backward", daemon=True).start()

    def start(self, job: _Job) -> None:
        self.job = job
        self.wake.release()

    def _work(self) -> None:
        while True:
            self.wake.acquire()
            job, self.job = self.job, None
            assert job is not None
            job.run()
            del job  # it holds a graph


_idle: list[_Helper] = []


def run_on_helper(function: Callable[..., Any], arguments: tuple[Any, ...], cancel: Callable[..., Any]) -> None:
    """Call ``function(*arguments)`` in a helper thread and wait for it; its exception is raised here.

    When the waiting is interrupted, ``cancel(*arguments)`` must bring the function to an end.
    """
    job = _Job(function, arguments)
    helper = _idle.pop() if _idle else _Helper()
    helper.start(job)
    try:
        job.done.wait()
    except BaseException:
        cancel(*arguments)
        _wait_regardless(job)
        raise
    finally:
        _idle.append(helper)
    if job.error is not None:
        error, job.error = job.error, None
        try:
            raise error
        finally:
            del error, job


def _wait_regardless(job: _Job) -> None:
    """Wait for the end of the job, which must not go on with what its caller has given up."""
    while not job.done.is_set():
        with contextlib.suppress(KeyboardInterrupt):
            job.done.wait()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads stay behind in the parent
