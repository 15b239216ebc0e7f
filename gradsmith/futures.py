"""`torch.futures`: values that will be there later, such as what a collective gives.

>>> import gradsmith as gs
>>> future = gs.futures.Future()
>>> doubled = future.then(lambda future: 2 * future.value())
>>> future.set_result(3)
>>> doubled.wait()
6
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that some thread, or a collective, will give.

    Parameters
    ----------
    devices : optional
        Accepted and not used.

    Notes
    -----
    What a collective gives arrives when somebody asks for it: `wait` and `done` move its messages on, and run what
    `then` has been given. No thread does so by itself.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._lock = threading.Lock()
        self._is_complete = threading.Event()
        self._callbacks: list[Callable[[Future[T]], Any]] = []
        self._value: Any = None
        self._error: BaseException | None = None
        # Moves on what the value comes from; True means to wait for it.
        self._advance: Callable[[bool], Any] | None = None

    @classmethod
    def driven_by(cls, advance: Callable[[Future[T], bool], Any]) -> Future[T]:
        """A future that is completed by a function, which is called when somebody asks.

        The function takes the future and whether to wait until it is complete.
        """
        future = cls()
        future._advance = lambda waits: advance(future, waits)
        return future

    # ---- asking

    def done(self) -> bool:
        """Whether there is a value, or an error."""
        self._move_on(waits=False)
        return self._is_complete.is_set()

    def wait(self) -> T:
        """The value, once it is there.

        Raises
        ------
        Exception
            What was given instead of a value.
        """
        self._move_on(waits=True)
        self._is_complete.wait()
        return self.value()

    def value(self) -> T:
        """The value of a future that is complete, as it is in a callback.

        Raises
        ------
        RuntimeError
            It is not complete.
        """
        if not self._is_complete.is_set():
            raise RuntimeError("value: the future is not complete; wait() waits until it is")
        if self._error is not None:
            raise self._error
        found: T = self._value
        return found

    def _move_on(self, waits: bool) -> None:
        if self._advance is not None and not self._is_complete.is_set():
            self._advance(waits)

    # ---- what comes after

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future for what `callback` returns, which is called with this one when it is complete."""
        following: Future[S] = Future()
        following._advance = self._move_on

        def go_on(future: Future[T]) -> None:
            try:
                value = callback(future)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(value)

        self._call_when_complete(go_on)
        return following

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call `callback` with this future when it is complete. An error of it is logged and does nothing else."""

        def call(future: Future[T]) -> None:
            try:
                callback(future)
            except Exception:
                logging.getLogger(__name__).exception("a callback of a future has failed")

        self._call_when_complete(call)

    def _call_when_complete(self, callback: Callable[[Future[T]], Any]) -> None:
        with self._lock:
            if not self._is_complete.is_set():
                self._callbacks.append(callback)
                return
        callback(self)

    # ---- completing

    def set_result(self, result: T) -> None:
        """Complete it with a value.

        Raises
        ------
        RuntimeError
            It is complete.
        """
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Complete it with an error, which `wait` and `value` raise."""
        if not isinstance(result, BaseException):
            raise TypeError(f"set_exception: {result!r} is of type {type(result).__name__}, not an Exception.")
        self._complete(None, result)

    def _complete(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._is_complete.is_set():
                raise RuntimeError("the future is complete already: it can be given one result or exception")
            self._value, self._error = value, error
            self._is_complete.set()
            callbacks, self._callbacks, self._advance = self._callbacks, [], None
        for callback in callbacks:
            callback(self)


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future for the list of `futures`, complete when all of them are."""

    def advance(found: Future[list[Future[Any]]], waits: bool) -> None:
        for future in futures:
            future._move_on(waits)
            if waits:
                future._is_complete.wait()

    collected: Future[list[Future[Any]]] = Future.driven_by(advance)
    left = [len(futures)]
    lock = threading.Lock()

    def count(future: Future[Any]) -> None:
        with lock:
            left[0] -= 1
            is_last = not left[0]
        if is_last:
            collected.set_result(list(futures))

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        collected.set_result([])
    return collected


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """The values of all futures; the first error is raised."""
    return [future.value() for future in collect_all(futures).wait()]
