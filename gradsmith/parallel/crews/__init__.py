"""Who does the tasks: threads, processes, or the workers of another package."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.parallel.limits import default_workers

if TYPE_CHECKING:
    from gradsmith.parallel.engine import Crew

_CREWS = {
    "dask": ("dask", "dask_crew"),
    "processes": ("processes", "Processes"),
    "ray": ("ray", "Ray"),
    "serial": ("serial", "Serial"),
    "threads": ("threads", "Threads"),
}


def crew_of(backend: Any, workers: int | None) -> Crew:
    """The crew that a backend means."""
    if not isinstance(backend, str):
        return _made("executors", "executor_crew", backend, workers)
    if backend not in _CREWS:
        raise ValueError(
            f"backend is one of {', '.join(map(repr, sorted(_CREWS)))}, a concurrent.futures.Executor, a Dask Client "
            f"or a gradsmith.parallel.Pool, got {backend!r}"
        )
    if backend in ("dask", "ray"):
        return _made(*_CREWS[backend], workers)
    return _made(*_CREWS[backend], workers or default_workers())


def _made(module: str, name: str, *arguments: Any) -> Crew:
    """Each is imported by programs that use it."""
    crew: Crew = getattr(importlib.import_module(f"gradsmith.parallel.crews.{module}"), name)(*arguments)
    return crew
