"""Workers that are kept from one map to the next."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from gradsmith.parallel.crews import crew_of
from gradsmith.parallel.engine import Crew, Engine, Options
from gradsmith.parallel.progress import require_progress
from gradsmith.parallel.tasks import Function, new_base, tasks_of

__all__ = ["Pool"]

_AHEAD = 4  # chunks for each worker that `imap` may be ahead of who takes the results


class Pool:
    """Workers for several maps, so that processes are started once.

    Parameters
    ----------
    backend : {"threads", "processes", "serial", "ray", "dask"} or executor
        See `map`.
    workers : int, optional
        See `map`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> with gs.parallel.Pool("threads", workers=2) as pool:
    ...     pool.map(gs.sqrt, [gs.tensor(1.0), gs.tensor(4.0)])
    ...     list(pool.imap(gs.neg, [gs.tensor(1.0)]))
    [tensor(1.), tensor(2.)]
    [tensor(-1.)]
    """

    def __init__(self, backend: Any = "threads", workers: int | None = None) -> None:
        if workers is not None:
            workers = _count("workers", workers, least=1)
        self._crew: Crew | None = crew_of(backend, workers)
        self._is_busy = threading.Lock()  # held by the map that runs

    def map(
        self,
        f: Function,
        xs: Iterable[Any],
        *more_xs: Iterable[Any],
        chunksize: int = 1,
        retries: int = 2,
        timeout: float | None = None,
        progress: Any = None,
        cancel: Any = None,
        seed: int | None = None,
    ) -> list[Any]:
        """A list of the results of ``f(x, ...)``, in the order of the arguments. See `gradsmith.parallel.map`."""
        columns = [one if hasattr(one, "__len__") else list(one) for one in (xs, *more_xs)]
        options = _options(chunksize, retries, timeout, progress, cancel)
        engine = self._engine(self._prepared(f), columns, options, _base(seed), ahead=None)
        found: dict[int, Any] = {}
        outcomes = engine.outcomes()
        try:
            for outcome in outcomes:
                if outcome.failure is not None:
                    raise outcome.failure.raised(outcome.number)
                found[outcome.number] = outcome.value
        finally:
            outcomes.close()  # type: ignore[attr-defined]
            self._is_busy.release()
        return [found[index] for index in sorted(found)]

    def imap(
        self,
        f: Function,
        xs: Iterable[Any],
        *more_xs: Iterable[Any],
        chunksize: int = 1,
        retries: int = 2,
        timeout: float | None = None,
        progress: Any = None,
        cancel: Any = None,
        seed: int | None = None,
    ) -> Iterator[Any]:
        """An iterator over the same results, in the same order. See `gradsmith.parallel.imap`."""
        options = _options(chunksize, retries, timeout, progress, cancel)
        return self._results(self._prepared(f), [xs, *more_xs], options, _base(seed))

    def _results(self, prepared: Any, columns: list[Any], options: Options, base: int) -> Iterator[Any]:
        ahead = _AHEAD * options.chunksize * self._open_crew().size
        engine = self._engine(prepared, columns, options, base, ahead)
        outcomes = engine.in_order()
        try:
            for outcome in outcomes:
                if outcome.failure is not None:
                    raise outcome.failure.raised(outcome.number)
                yield outcome.value
        finally:
            outcomes.close()  # type: ignore[attr-defined]
            self._is_busy.release()

    def _prepared(self, f: Function) -> Any:
        if not callable(f):
            raise TypeError(f"f must be callable, got {type(f).__name__}")
        return self._open_crew().prepared(f)

    def _engine(self, prepared: Any, columns: list[Any], options: Options, base: int, ahead: int | None) -> Engine:
        crew = self._open_crew()
        total = min(map(len, columns)) if all(hasattr(one, "__len__") for one in columns) else None
        if not self._is_busy.acquire(blocking=False):
            raise RuntimeError(
                "this pool is busy with another map, or with an iterator of imap() that has not ended: end that first, "
                "or use another pool"
            )
        try:
            crew.begin(prepared, total)
            return Engine(crew, tasks_of(columns, base), total, options, ahead)
        except BaseException:
            self._is_busy.release()
            raise

    # -- its end

    def _open_crew(self) -> Crew:
        if self._crew is None:
            raise RuntimeError("this pool is closed")
        return self._crew

    def close(self) -> None:
        """End the workers. Tasks that have not ended are given up."""
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()

    def __enter__(self) -> Pool:
        self._open_crew()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle a pool: its workers belong to this process. Make another one within the task")


def _base(seed: int | None) -> int:
    return new_base() if seed is None else operator.index(seed)


def _options(chunksize: Any, retries: Any, timeout: Any, progress: Any, cancel: Any) -> Options:
    """Checked."""
    require_progress(progress)
    if cancel is not None and not hasattr(cancel, "is_set"):
        raise TypeError(f"cancel is a threading.Event, or has `is_set()` like one, got {type(cancel).__name__}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is None or a number of seconds greater than 0, got {timeout!r}")
    return Options(
        _count("chunksize", chunksize, least=1), _count("retries", retries, least=0), timeout, progress, cancel
    )


def _count(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, got {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"{name} is at least {least}, got {number}")
    return number
