"""Handles of what runs on while the program does something else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from gradsmith.distributed.groups.exchanges import Running
from gradsmith.distributed.world import seconds_of
from gradsmith.futures import Future

__all__ = ["Then", "Work", "handle"]


class Work:
    """A collective, a send or a receive that was started with ``async_op=True``, by `isend` or by `irecv`.

    Its tensors should not be touched before `wait` has returned, or `is_completed` True.
    """

    def __init__(self, pending: Running, result: list[Any] | None = None) -> None:
        self._pending = pending
        self._result = result or []
        self._error: BaseException | None = None

    def wait(self, timeout: timedelta | float | None = None) -> bool:
        """Return True once it is done.

        Raises
        ------
        DistBackendError
            It can't be done, or not within the time: a rank is missing, or calls something else.
        """
        try:
            self._pending.wait(None if timeout is None else seconds_of(timeout))
        except BaseException as error:
            self._error = error
            raise
        return True

    def is_completed(self) -> bool:
        """Whether it is done, or has failed. It moves on while this is called."""
        if self._error is None:
            try:
                return self._pending.is_done()
            except RuntimeError as error:
                self._error = error
        return True

    def is_success(self) -> bool:
        return self._error is None and self._pending.is_delivered

    def exception(self) -> BaseException | None:
        """The error, if it has failed."""
        return self._error

    def result(self) -> list[Any]:
        """The tensors that it writes to."""
        return self._result

    def get_future(self) -> Future[list[Any]]:
        """A future for `result`, which communication hooks return."""
        return Future.driven_by(self._settle)

    def _settle(self, future: Future[list[Any]], waits: bool) -> None:
        """Complete the future if this is done, or wait for it."""
        if waits:
            with contextlib.suppress(Exception):  # kept, and raised by the future
                self.wait()
        elif not self.is_completed():
            return
        if self._error is None:
            future.set_result(self._result)
        else:
            future.set_exception(self._error)


class Then:
    """What is done once a collective is there."""

    def __init__(self, pending: Running, last: Callable[[], None]) -> None:
        self._pending, self._last = pending, last
        self.is_delivered = False

    def is_done(self) -> bool:
        if not self.is_delivered and self._pending.is_done():
            self._end()
        return self.is_delivered

    def wait(self, timeout: float | None = None) -> None:
        if not self.is_delivered:
            self._pending.wait(timeout)
            self._end()

    def _end(self) -> None:
        self._last()
        self.is_delivered = True


def handle(pending: Running, async_op: bool, *tensors: Any) -> Work | None:
    """The handle of what was started, or None once it is done."""
    if async_op:
        return Work(pending, list(tensors))
    pending.wait()
    return None
