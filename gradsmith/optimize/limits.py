"""Bounds of parameters: SciPy's forms, and trees like the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.optimize.parameters import Parameters, Vector
from gradsmith.optimize.solvers import scipy_optimize


def bounds_of_pairs(parameters: Parameters, bounds: Any) -> Any:
    """SciPy's `Bounds` from what `minimize` takes: None, `Bounds`, or a pair (low, high) for each leaf or element."""
    if bounds is None:
        return None
    optimize = scipy_optimize(parameters.where)
    if isinstance(bounds, optimize.Bounds):
        low, high = both_sides(parameters, (_unpacked(bounds.lb), _unpacked(bounds.ub)))
        return optimize.Bounds(low, high, bounds.keep_feasible)
    pairs = _pairs_of_elements(parameters, bounds)
    sides = [[_side(pair, side, parameters) for pair in pairs] for side in (0, 1)]
    if len(parameters.leaves) == 1 and len(pairs) == parameters.size:
        low, high = (np.array([_number(value, missing) for value in side]) for side, missing in _with_missing(sides))
    else:
        low, high = (
            np.concatenate(
                [parameters.filled(leaf, value, "bounds", missing) for leaf, value in zip(parameters.leaves, side)]
            )
            for side, missing in _with_missing(sides)
        )
    _check(parameters, low, high)
    return optimize.Bounds(low, high)


def both_sides(parameters: Parameters, bounds: Any) -> tuple[Vector, Vector]:
    """The vectors of a pair (lower, upper), of which each is a number, a vector, or a tree like the parameters."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        bounds = _unpacked(bounds.lb), _unpacked(bounds.ub)
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise ValueError(f"{parameters.where}(): bounds must be a pair (lower, upper), got {bounds!r:.80}")
    low = parameters.vector_like(bounds[0], "the lower bound", -math.inf)
    high = parameters.vector_like(bounds[1], "the upper bound", math.inf)
    _check(parameters, low, high)
    return low, high


def _unpacked(side: Any) -> Any:
    """`Bounds` puts what is no array into one: a tree, or None."""
    return side.reshape(-1)[0] if isinstance(side, np.ndarray) and side.dtype == object and side.size == 1 else side


def _pairs_of_elements(parameters: Parameters, bounds: Any) -> list[Any]:
    """A pair for each element of a single leaf, or one for each leaf."""
    if len(parameters.leaves) == 1 and isinstance(bounds, (list, tuple, np.ndarray)):
        pairs = list(bounds)
        if len(pairs) != parameters.size:
            raise ValueError(
                f"{parameters.where}(): bounds must have a pair (low, high) for each of the {parameters.size} elements "
                f"of {parameters.name}, got {len(pairs)}"
            )
        return pairs
    return parameters.spread(bounds, "bounds")


def _side(pair: Any, side: int, parameters: Parameters) -> Any:
    if pair is None:
        return None
    try:
        low_and_high = tuple(pair)
    except TypeError:
        low_and_high = ()
    if len(low_and_high) != 2:
        raise ValueError(f"{parameters.where}(): bounds must be pairs (low, high) or None, got {pair!r:.80}")
    return low_and_high[side]


def _with_missing(sides: list[list[Any]]) -> list[tuple[list[Any], float]]:
    return [(sides[0], -math.inf), (sides[1], math.inf)]


def _number(value: Any, missing: float) -> float:
    return missing if value is None else float(value)


def _check(parameters: Parameters, low: Vector, high: Vector) -> None:
    wrong = ~(low <= high)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"{parameters.where}(): the lower bound of {parameters.place(place)} is {low[place]}, above the upper one, "
            f"{high[place]}"
        )
