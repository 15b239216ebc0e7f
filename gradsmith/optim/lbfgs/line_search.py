"""A line search whose result satisfies the strong Wolfe conditions.

Source: Nocedal and Wright, Numerical optimization, 2006, algorithms 3.5 and 3.6; cubic interpolation, and the care for
steps that end close to an end of the interval, as in Schmidt's minFunc.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

SUFFICIENT_DECREASE = 1e-4
CURVATURE = 0.9


class Point(NamedTuple):
    """A step length, and the loss, its gradient and its slope along the direction there."""

    t: float
    loss: float
    grad: Any
    slope: float


Evaluate = Callable[[float], Point]


def strong_wolfe(
    evaluate: Evaluate, start: Point, t: float, reach: float, tolerance_change: float, most: int
) -> tuple[Point, int]:
    """A point where the loss has fallen and is flat enough, or the best one found, and the number of evaluations.

    Parameters
    ----------
    evaluate : callable
        From a step length to its `Point`.
    start : Point
        Of step length 0.
    t : float
        The first step length to try.
    reach : float
        The greatest element of the direction: intervals shorter than `tolerance_change` along it are not divided.
    most : int
        Evaluations after the first one.
    """
    ends, count, is_done = _bracket(evaluate, start, t, most)
    if not is_done:
        ends, count = _zoom(evaluate, start, ends, count, reach, tolerance_change, most)
    return _best(ends), count + 1


def _bracket(evaluate: Evaluate, start: Point, t: float, most: int) -> tuple[list[Point], int, bool]:
    """Two points with a good one between them, or a good one."""
    previous, new = start, evaluate(t)
    for count in range(most):
        if _rises(start, new) or (count > 1 and new.loss >= previous.loss):
            return [previous, new], count, False
        if _is_flat(start, new):
            return [new], count, True
        if new.slope >= 0:
            return [previous, new], count, False
        bounds = new.t + 0.01 * (new.t - previous.t), new.t * 10
        previous, new = new, evaluate(cubic_minimum(previous, new, bounds))
    return [start, new], max(most, 0), False


def _zoom(
    evaluate: Evaluate, start: Point, ends: list[Point], count: int, reach: float, tolerance_change: float, most: int
) -> tuple[list[Point], int]:
    was_close = False
    while count < most and abs(ends[1].t - ends[0].t) * reach >= tolerance_change:
        t, was_close = _inside(ends, was_close)
        new = evaluate(t)
        count += 1
        low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
        if _rises(start, new) or new.loss >= ends[low].loss:
            ends[high] = new
            continue
        is_done = _is_flat(start, new)
        if not is_done and new.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = new
        if is_done:
            return [new], count
    return ends, count


def _inside(ends: list[Point], was_close: bool) -> tuple[float, bool]:
    """The minimum between two points, but not twice close to one of them."""
    left, right = sorted((ends[0].t, ends[1].t))
    t = cubic_minimum(ends[0], ends[1], (left, right))
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if was_close or t >= right or t <= left:
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
    return t, True


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float]) -> float:
    """Where the cubic with the values and slopes of two points is least, within bounds; their middle if nowhere."""
    if a.t == b.t:
        return sum(bounds) / 2
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return sum(bounds) / 2
    left, right = (a, b) if a.t <= b.t else (b, a)
    root = math.sqrt(square)
    divisor = right.slope - left.slope + 2 * root
    if divisor == 0:
        return sum(bounds) / 2
    least = right.t - (right.t - left.t) * ((right.slope + root - mean) / divisor)
    return min(max(least, bounds[0]), bounds[1])


def _rises(start: Point, new: Point) -> bool:
    return new.loss > start.loss + SUFFICIENT_DECREASE * new.t * start.slope


def _is_flat(start: Point, new: Point) -> bool:
    return abs(new.slope) <= -CURVATURE * start.slope


def _best(ends: list[Point]) -> Point:
    return ends[0] if ends[0].loss <= ends[-1].loss else ends[-1]
