"""Callbacks of users, which get trees in place of vectors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradsmith.optimize.functions import Objective
from gradsmith.optimize.parameters import Parameters
from gradsmith.optimize.solvers import Watched, scipy_optimize


def of_minimize(objective: Objective, callback: Any, watched: Watched) -> Callable[..., Any] | None:
    """A callback for any method of SciPy's `minimize`.

    One whose only parameter is called `intermediate_result` gets ``x``, ``fun`` and ``nit``; others get the parameters.
    """
    if callback is None:
        return None
    require_callable(objective.parameters, callback)
    parameters, count = objective.parameters, 0
    result = scipy_optimize(parameters.where).OptimizeResult

    def intermediate(x: Any) -> Any:
        nonlocal count
        count += 1
        return callback(result(x=parameters.given_back(x), fun=objective.known_value(x), nit=count))

    def plain(x: Any) -> Any:
        return callback(parameters.given_back(x))

    chosen = watched(intermediate if _wants_result(callback) else plain)
    # One method also gives its state, and ends when the callback gives something true.
    return lambda x, state=None: chosen(x)


def of_root(parameters: Parameters, callback: Any, watched: Watched) -> Callable[..., Any] | None:
    """A callback of `root`, which gets the parameters and the values there."""
    if callback is None:
        return None
    require_callable(parameters, callback)
    return watched(lambda x, values: callback(parameters.given_back(x), values))


def require_callable(parameters: Parameters, callback: Any) -> None:
    if not callable(callback):
        raise TypeError(f"{parameters.where}(): callback must be callable, got {type(callback).__name__}")


def _wants_result(callback: Any) -> bool:
    try:
        return list(inspect.signature(callback).parameters) == ["intermediate_result"]
    except (TypeError, ValueError):  # a builtin does not tell
        return False
