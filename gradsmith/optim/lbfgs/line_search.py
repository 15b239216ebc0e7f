"""A line search whose result satisfies the strong Wolfe conditions.

Source: Nocedal and Wright, Numerical optimization, 2006, algorithms 3.5 and 3.6; cubic interpolation, and the care for
steps that end close to an end of the interval, as in Schmidt's minFunc.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Point(NamedTuple):
    """A step length, and the loss, its gradient and its slope along the direction there."""

    t: float
    loss: float
    grad: Any
    slope: float


class Conditions(NamedTuple):
    """The constants of the Wolfe conditions, which a step length has to satisfy."""

    decrease: float = 1e-4
    curvature: float = 0.9


Evaluate = Callable[[float], Point]


def strong_wolfe(
    evaluate: Evaluate,
    start: Point,
    t: float,
    reach: float,
    tolerance_change: float,
    most: int,
    wanted: Conditions = Conditions(),  # noqa: B008  # never changed
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
    wanted : Conditions, optional
    """
    goal = Goal(start, wanted)
    ends, count, is_done = _bracket(evaluate, goal, t, most)
    if not is_done:
        ends, count = _zoom(evaluate, goal, ends, count, reach, tolerance_change, most)
    return _best(ends), count + 1


class Goal(NamedTuple):
    """Where the search starts, and what it looks for."""

    start: Point
    wanted: Conditions

    def is_missed(self, new: Point) -> bool:
        """Has the loss not fallen enough?"""
        return new.loss > self.start.loss + self.wanted.decrease * new.t * self.start.slope

    def is_flat(self, new: Point) -> bool:
        return abs(new.slope) <= -self.wanted.curvature * self.start.slope


def _bracket(evaluate: Evaluate, goal: Goal, t: float, most: int) -> tuple[list[Point], int, bool]:
    """Two points with a good one between them, or a good one."""
    previous, new = goal.start, evaluate(t)
    for count in range(most):
        if goal.is_missed(new) or (count > 1 and new.loss >= previous.loss):
            return [previous, new], count, False
        if goal.is_flat(new):
            return [new], count, True
        if new.slope >= 0:
            return [previous, new], count, False
        bounds = new.t + 0.01 * (new.t - previous.t), new.t * 10
        previous, new = new, evaluate(cubic_minimum(previous, new, bounds))
    return [goal.start, new], max(most, 0), False


def _zoom(
    evaluate: Evaluate, goal: Goal, ends: list[Point], count: int, reach: float, tolerance_change: float, most: int
) -> tuple[list[Point], int]:
    was_close = False
    while count < most and abs(ends[1].t - ends[0].t) * reach >= tolerance_change:
        t, was_close = _inside(ends, was_close)
        new = evaluate(t)
        count += 1
        low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
        if goal.is_missed(new) or new.loss >= ends[low].loss:
            ends[high] = new
            continue
        is_done = goal.is_flat(new)
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


def _best(ends: list[Point]) -> Point:
    return ends[0] if ends[0].loss <= ends[-1].loss else ends[-1]


# ---- the same under PyTorch's names, for libraries


def _strong_wolfe(
    obj_func: Callable[..., tuple[Any, Any]],
    x: Any,
    t: Any,
    d: Any,
    f: Any,
    g: Any,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Any, Any, int]:
    """Loss, gradient and step length that were found, and the number of evaluations, ``obj_func(x, t, d)``."""

    def evaluate(t: Any) -> Point:
        loss, grad = obj_func(x, t, d)
        return Point(t, loss, grad.clone(), grad.dot(d))

    start, reach = Point(0.0, f, g, gtd), d.abs().max()
    found, count = strong_wolfe(evaluate, start, t, reach, tolerance_change, max_ls, Conditions(c1, c2))
    return found.loss, found.grad, found.t, count


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """Where the cubic through two points is least, between bounds, which are the points by default."""
    return cubic_minimum(Point(x1, f1, None, g1), Point(x2, f2, None, g2), bounds or (min(x1, x2), max(x1, x2)))
