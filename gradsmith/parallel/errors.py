"""What goes wrong with tasks, and how the caller learns with which of them."""

from __future__ import annotations

import concurrent.futures
import traceback
from typing import NamedTuple

__all__ = ["Cancelled", "RemoteError", "TaskLost"]


class Cancelled(concurrent.futures.CancelledError):
    """The event that was given as `cancel` has been set."""


class TaskLost(RuntimeError):
    """A worker ended in the middle of a task, each time that it was tried.

    Attributes
    ----------
    index : int
        Number of the task.
    """

    def __init__(self, message: str, index: int = -1) -> None:
        super().__init__(message)
        self.index = index


class RemoteError(RuntimeError):
    """Stands for an exception of another process that cannot be pickled; the message has its traceback."""


class RemoteTraceback(Exception):
    """The cause of an exception that another process has raised: where that was."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n\n{self.text}"


class Failure(NamedTuple):
    """The exception of a task; `text` is its traceback when that was in another process."""

    error: BaseException
    text: str = ""

    @classmethod
    def remote(cls, error: BaseException) -> Failure:
        """That of this process, for another one, to which no traceback can be sent."""
        return cls(error, "".join(traceback.format_exception(type(error), error, error.__traceback__)))

    def raised(self, index: int) -> BaseException:
        """The exception, which says of which task it is."""
        error = self.error
        if self.text:
            error.__cause__ = RemoteTraceback(f"In task {index}, in another process:\n{self.text}")
        _note(error, f"This happened in task {index} of gradsmith.parallel, for the argument of that index.")
        return error


def _note(error: BaseException, text: str) -> None:
    """As ``add_note`` of Python 3.11; that of 3.10 keeps notes and does not show them."""
    notes = getattr(error, "__notes__", [])
    if text not in notes:
        error.__notes__ = [*notes, text]  # type: ignore[attr-defined]
