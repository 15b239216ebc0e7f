"""Solvers of ordinary differential equations, on arrays: the values at given times, nothing recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gradsmith.numpy.arguments import np
from gradsmith.runtime.arrays.scipy_modules import scipy_module

Right = Callable[[float, Any], Any]  # of time and state, the slope


class Options(NamedTuple):
    """How exactly an equation is solved."""

    method: str = "dopri5"
    rtol: float = 1.49012e-8
    atol: float = 1.49012e-8
    first_step: float | None = None
    max_step: float = np.inf
    max_steps: int = 100_000  # from one time to the next
    step_size: float | None = None  # of "rk4"; by default one step from one time to the next


SCIPY_METHODS = {name.lower(): name for name in ("RK23", "DOP853", "Radau", "BDF", "LSODA")}
METHODS = ("dopri5", "rk45", "rk4", *SCIPY_METHODS)

# The embedded pair of orders 5 and 4 of Dormand and Prince, A family of embedded Runge-Kutta formulae, Journal of
# Computational and Applied Mathematics 6 (1980), page 23. The last stage is the first of the next step.
NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # of the change of a step


def solved(right: Right, start: Any, times: Any, options: Options) -> Any:
    """States at the times, the first of which is that of the start."""
    method = str(options.method).lower()
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {options.method!r}")
    found = np.empty((len(times), start.size))
    if not len(times):
        return found
    found[0] = start
    if len(times) == 1:
        return found
    if method in SCIPY_METHODS:
        return _by_scipy(right, start, times, SCIPY_METHODS[method], options)
    (_fixed if method == "rk4" else _adaptive)(right, times, found, options)
    return found


def _fixed(right: Right, times: Any, found: Any, options: Options) -> None:
    """The classical method of order 4 in equal steps."""
    for place in range(1, len(times)):
        t, span = times[place - 1], times[place] - times[place - 1]
        count = 1 if options.step_size is None else max(1, int(np.ceil(abs(span) / options.step_size)))
        y, h = found[place - 1], span / count
        for number in range(count):
            y = _classical(right, t + number * h, y, h)
        found[place] = y


def _classical(right: Right, t: float, y: Any, h: float) -> Any:
    first = right(t, y)
    second = right(t + h / 2, y + h / 2 * first)
    third = right(t + h / 2, y + h / 2 * second)
    fourth = right(t + h, y + h * third)
    return y + h / 6 * (first + 2 * second + 2 * third + fourth)


def _adaptive(right: Right, times: Any, found: Any, options: Options) -> None:
    stepper = Stepper(right, times[0], found[0], times[-1] - times[0], options)
    for place in range(1, len(times)):
        found[place] = stepper.to(times[place])


class Stepper:
    """Where the integration is, and the size of the next step."""

    def __init__(self, right: Right, t: float, y: Any, span: float, options: Options) -> None:
        self.right, self.options = right, options
        self.t, self.y, self.slope = t, y, right(t, y)
        self.size = options.first_step or self._first_size(abs(span))

    def _first_size(self, span: float) -> float:
        """Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4."""
        scale = self.options.atol + np.abs(self.y) * self.options.rtol
        state, slope = _norm(self.y / scale), _norm(self.slope / scale)
        guess = min(0.01 * state / slope if state >= 1e-5 and slope >= 1e-5 else 1e-6, span)
        change = _norm((self.right(self.t + guess, self.y + guess * self.slope) - self.slope) / scale) / max(
            guess, 1e-300
        )
        steepest = max(slope, change)
        size = max(1e-6, guess * 1e-3) if steepest <= 1e-15 else (0.01 / steepest) ** 0.2
        return min(100 * guess, size, span) or 1e-6

    def to(self, goal: float) -> Any:
        """The state at a time."""
        sign = 1.0 if goal >= self.t else -1.0
        for _ in range(self.options.max_steps):
            if self.t == goal:
                return self.y
            self._step(goal, sign)
        raise RuntimeError(
            f"the differential equation took more than {self.options.max_steps} steps to {goal}; allow more by "
            "`mxstep`, or greater errors by `rtol` and `atol`"
        )

    def _step(self, goal: float, sign: float) -> None:
        """One step that is exact enough, after as many attempts as it takes."""
        most = MOST
        while True:
            size = min(self.size, self.options.max_step)
            if size < 10 * np.spacing(abs(self.t)) or not np.isfinite(size):
                raise RuntimeError(f"the differential equation has no solution beyond {self.t}: steps became too small")
            left = abs(goal - self.t)
            last = size >= left * (1 - 1e-12)
            h = sign * (left if last else size)
            y, slope, error = self._attempt(h)
            factor = (
                LEAST if not error < np.inf else most if error == 0 else min(most, max(LEAST, SAFETY * error**-0.2))
            )
            if error <= 1:
                self.t, self.y, self.slope = (goal if last else self.t + h), y, slope
                self.size = max(abs(h) * factor, self.size if last else 0.0)
                return
            self.size, most = abs(h) * min(factor, 1.0), 1.0

    def _attempt(self, h: float) -> tuple[Any, Any, float]:
        stages = [self.slope]
        y = self.y
        for node, weights in zip(NODES[1:], STAGES[1:]):
            y = self.y + h * sum(weight * stage for weight, stage in zip(weights, stages) if weight)
            stages.append(self.right(self.t + node * h, y))
        scale = self.options.atol + np.maximum(np.abs(self.y), np.abs(y)) * self.options.rtol
        error = h * sum(weight * stage for weight, stage in zip(ERRORS, stages) if weight)
        return y, stages[-1], float(_norm(error / scale))


def _norm(x: Any) -> float:
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0


def _by_scipy(right: Right, start: Any, times: Any, method: str, options: Options) -> Any:
    integrate = scipy_module("integrate", f"method={method!r}", ". 'dopri5' and 'rk4' need nothing else")
    rows = [start]
    for place in range(1, len(times)):
        settings = {"method": method, "rtol": options.rtol, "atol": options.atol, "max_step": options.max_step}
        done = integrate.solve_ivp(
            right, (times[place - 1], times[place]), rows[-1], first_step=options.first_step, **settings
        )
        if not done.success:
            raise RuntimeError(f"scipy.integrate.solve_ivp: {done.message}")
        rows.append(done.y[:, -1])
    return np.stack(rows)


def times_of_steps(right: Right, start: Any, first: float, last: float, options: Options) -> Any:
    """The times that an adaptive solver chooses by itself."""
    stepper, times = Stepper(right, first, start, last - first, options), [first]
    sign = 1.0 if last >= first else -1.0
    while stepper.t != last:
        if len(times) > options.max_steps:
            raise RuntimeError(f"the differential equation took more than {options.max_steps} steps")
        stepper._step(last, sign)
        times.append(stepper.t)
    return np.array(times)
