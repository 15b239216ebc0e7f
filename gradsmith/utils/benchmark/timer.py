"""`Timer`: runs a statement so often that its time can be told."""

from __future__ import annotations

import importlib
import timeit
from collections.abc import Callable
from timeit import default_timer as timer
from typing import Any

from gradsmith.runtime.arrays.array import get_num_threads, set_num_threads
from gradsmith.utils.benchmark.measurement import Measurement

__all__ = ["Timer", "timer"]


class Timer:
    """The time that a statement takes, after runs that warm up.

    Parameters
    ----------
    stmt, setup : str
        The statement, and what runs once before it.
    global_setup : str
        For C++ in PyTorch, and not used.
    timer : callable
        Gives the time in seconds.
    globals : dict, optional
        The names that the statement uses; ``torch`` is gradsmith without it.
    label, sub_label, description, env : str, optional
        Names for tables; see `Measurement`.
    num_threads : int, default 1
        How many threads gradsmith may use meanwhile.

    Raises
    ------
    ValueError
        For a statement in another language than Python.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if str(getattr(language, "value", language)).lower() not in ("python", "py", "0"):
            raise ValueError(f"Timer(): gradsmith measures statements of Python, not of {language!r}")
        self._names = (stmt, setup, label, sub_label, description, env, num_threads)
        self._threads = num_threads
        own = dict.fromkeys(("torch", "gradsmith"), importlib.import_module("gradsmith"))
        self._timer = timeit.Timer(_unindented(stmt), _unindented(setup), timer, own | (globals or {}))

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One measurement of so many runs."""
        self._seconds(max(number // 100, 2))
        return self._measurement(number, [self._seconds(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Not there, as in PyTorch: `blocked_autorange` chooses both numbers.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(
        self, callback: Callable[[int, float], None] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Blocks of runs until so many seconds are over; a block is long enough for the clock to be of no weight."""
        number = self._block(min_run_time)
        return self._until(number, min_run_time, lambda times: True, min_run_time, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], None] | None = None,
    ) -> Measurement:
        """Blocks of runs until their times are close: their middle half within a part `threshold` of the median."""
        number = self._block(min_run_time)

        def are_close(times: list[float]) -> bool:
            found = self._measurement(number, times)
            return len(times) > 3 and found.iqr < threshold * found.median

        return self._until(number, min_run_time, are_close, max_run_time, callback)

    autorange = blocked_autorange

    def _until(
        self,
        number: int,
        least: float,
        is_enough: Callable[[list[float]], bool],
        most: float,
        callback: Callable[[int, float], None] | None,
    ) -> Measurement:
        times: list[float] = []
        while not times or sum(times) < least or (sum(times) < most and not is_enough(times)):
            times.append(self._seconds(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measurement(number, times)

    def _block(self, least: float) -> int:
        """How many runs are a block: at least a thousandth of the time, so that the clock's own time does not count."""
        number = 1
        while True:
            seconds = self._seconds(number)
            if seconds >= least / 1000 and (seconds >= 1e-4 or number >= 1_000_000):
                return number
            number *= 10

    def _seconds(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._threads)
        try:
            return max(self._timer.timeit(number), 1e-9)
        finally:
            set_num_threads(before)

    def _measurement(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, *self._names)


def _unindented(code: str) -> str:
    """Lines of a text that stands indented in a program."""
    import textwrap

    return textwrap.dedent(code).strip() or "pass"
