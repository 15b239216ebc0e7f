"""How far it is: a line on the screen, a bar of tqdm, or a function of the user's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any, Protocol


class Progress(Protocol):
    """Is told of each task that is done."""

    def __call__(self) -> None: ...

    def close(self) -> None: ...


class _Silent:
    def __call__(self) -> None:
        pass

    def close(self) -> None:
        pass


class _Counted:
    """Calls a function with the number of tasks that are done, and of all if that is known."""

    def __init__(self, function: Callable[[int, int | None], Any], total: int | None) -> None:
        self.function, self.total, self.done = function, total, 0

    def __call__(self) -> None:
        self.done += 1
        self.function(self.done, self.total)

    def close(self) -> None:
        pass


class _Line(_Counted):
    """One line on standard error, written over and over."""

    def __init__(self, total: int | None) -> None:
        super().__init__(self._write, total)

    @staticmethod
    def _write(done: int, total: int | None) -> None:
        sys.stderr.write(f"\r{done} of {total} tasks" if total is not None else f"\r{done} tasks")
        sys.stderr.flush()

    def close(self) -> None:
        if self.done:
            sys.stderr.write("\n")


class _Bar:
    """A bar of tqdm, or anything else with ``update(1)``; it is closed if it was made here."""

    def __init__(self, bar: Any, is_own: bool) -> None:
        self.bar, self.is_own = bar, is_own

    def __call__(self) -> None:
        self.bar.update(1)

    def close(self) -> None:
        if self.is_own:
            self.bar.close()


def progress_of(asked: Any, total: int | None) -> Progress:
    """What the argument `progress` asks for."""
    if asked is None or asked is False:
        return _Silent()
    if asked is True:
        if importlib.util.find_spec("tqdm") is None:
            return _Line(total)
        asked = importlib.import_module("tqdm.auto").tqdm
    if hasattr(asked, "update"):
        is_own = isinstance(asked, type)
        return _Bar(asked(total=total) if is_own else asked, is_own)
    return _Counted(asked, total)


def require_progress(asked: Any) -> None:
    if not (asked is None or isinstance(asked, bool) or callable(asked) or hasattr(asked, "update")):
        raise TypeError(
            "progress is True, False, a function of the number of tasks that are done and of all, or tqdm, "
            f"got {type(asked).__name__}"
        )
