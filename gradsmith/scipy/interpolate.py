"""SciPy's interpolation for tensors: ``gradsmith.scipy.interpolate``.

Interpolants are differentiable with respect to the evaluation points, and to the coordinates and values of the data
points.
"""

from __future__ import annotations

from typing import Any

import gradsmith.generated as generated
import gradsmith.linalg
from gradsmith.numpy.arguments import array_of, as_tensor, axis_of, common, floating, np, without_data, wrapped
from gradsmith.runtime.tensors.factories.creation import ones_like, zeros_like
from gradsmith.scipy.basis_splines import BSpline, make_interp_spline
from gradsmith.scipy.piecewise import PiecewisePolynomial, points

linalg: Any = gradsmith.linalg

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator", "interp1d",
    "make_interp_spline",
]  # fmt: skip

PPoly = PiecewisePolynomial


class CubicHermiteSpline(PiecewisePolynomial):
    """Cubic polynomials between points with given values and given slopes."""

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        places, values, place = points(type(self).__name__, x, y, axis)
        slopes = floating(as_tensor(dydx)).to(values.dtype).movedim(place, 0)
        if slopes.shape != values.shape:
            raise ValueError("CubicHermiteSpline: the shapes of y and dydx must be identical")
        super().__init__(_cubics(places, values, slopes), places, True if extrapolate is None else extrapolate, place)


def _steps(x: Any, y: Any) -> tuple[Any, Any]:
    """Lengths of the intervals, as the values lie, and the slopes of the chords."""
    steps = (x[1:] - x[:-1]).reshape(-1, *[1] * (y.ndim - 1))
    return steps, (y[1:] - y[:-1]) / steps


def _cubics(x: Any, y: Any, slopes: Any) -> Any:
    steps, chords = _steps(x, y)
    bend = (slopes[:-1] + slopes[1:] - 2 * chords) / steps
    return generated.stack([bend / steps, (chords - slopes[:-1]) / steps - bend, slopes[:-1], y[:-1]])


class PchipInterpolator(CubicHermiteSpline):
    """Cubic polynomials that go up and down where the points do, and nowhere else."""

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        places, values, place = points("PchipInterpolator", x, y, axis)
        slopes = _monotone_slopes(places, values)
        super().__init__(places, values.movedim(0, place), slopes.movedim(0, place), place, extrapolate)


def _monotone_slopes(x: Any, y: Any) -> Any:
    steps, chords = _steps(x, y)
    if y.shape[0] == 2:
        return generated.cat([chords, chords])
    before, after, left, right = steps[:-1], steps[1:], chords[:-1], chords[1:]
    one, other = 2 * after + before, after + 2 * before
    turns = generated.sign(left) * generated.sign(right) <= 0
    # Where the points turn the slope is zero; ones keep the unused quotients and their gradients finite.
    left, right = (generated.where(turns, 1.0, chord) for chord in (left, right))
    inner = generated.where(turns, 0.0, (one + other) / (one / left + other / right))
    first = _end_slope(steps[0], steps[1], chords[0], chords[1])
    last = _end_slope(steps[-1], steps[-2], chords[-1], chords[-2])
    return generated.cat([first.unsqueeze(0), inner, last.unsqueeze(0)])


def _end_slope(step: Any, next_step: Any, chord: Any, next_chord: Any) -> Any:
    slope = ((2 * step + next_step) * chord - step * next_chord) / (step + next_step)
    turns = generated.sign(chord) != generated.sign(next_chord)
    steep = turns & (abs(slope) > 3 * abs(chord))
    slope = generated.where(generated.sign(slope) != generated.sign(chord), 0.0, slope)
    return generated.where(steep & (slope != 0), 3.0 * chord, slope)


class Akima1DInterpolator(CubicHermiteSpline):
    """Cubic polynomials whose slopes are weighted means of those of neighbouring chords."""

    def __init__(self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> None:
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"`method`={method} is unsupported; it is 'akima' or 'makima'")
        places, values, place = points("Akima1DInterpolator", x, y, axis)
        slopes = _akima_slopes(places, values, method == "makima")
        outside = False if extrapolate is None else extrapolate
        super().__init__(places, values.movedim(0, place), slopes.movedim(0, place), place, outside)


def _akima_slopes(x: Any, y: Any, modified: bool) -> Any:
    chords = _steps(x, y)[1]
    if y.shape[0] == 2:
        return generated.cat([chords, chords])
    first = 2 * chords[0] - chords[1]
    last = 2 * chords[-1] - chords[-2]
    ends = [2 * first - chords[0], first, *chords.unbind(0), last, 2 * last - chords[-1]]
    m = generated.stack(ends)
    change = abs(m[1:] - m[:-1])
    if modified:
        change = change + 0.5 * abs(m[1:] + m[:-1])
    one, other = change[2:], change[:-2]
    total = one + other
    flat = total <= 1e-9 * total.max()
    total = generated.where(flat, 1.0, total)
    weighted = (one * m[1:-2] + other * m[2:-1]) / total
    return generated.where(flat, 0.0 if modified else 0.5 * (m[3:] + m[:-3]), weighted)


class CubicSpline(PiecewisePolynomial):
    """Cubic polynomials with continuous second derivatives.

    Parameters
    ----------
    x : array_like
        Places, ascending.
    y : array_like
        Values, with the places along `axis`.
    bc_type : str or pair of str or (int, array_like)
        "not-a-knot", "periodic", "clamped", "natural", or for each end one of these or the order and the value of a
        derivative there.
    extrapolate : bool or "periodic", optional
        True, or "periodic" where `bc_type` is.
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        places, values, place = points("CubicSpline", x, y, axis)
        if extrapolate is None:
            extrapolate = "periodic" if bc_type == "periodic" else True
        slopes = _periodic_slopes(places, values) if bc_type == "periodic" else _slopes(places, values, bc_type)
        super().__init__(_cubics(places, values, slopes), places, extrapolate, place)


def _conditions(bc_type: Any) -> list[Any]:
    """At each end "not-a-knot", or the order of a derivative and its value."""
    names = {"clamped": (1, 0.0), "natural": (2, 0.0), "not-a-knot": "not-a-knot"}
    both = [bc_type, bc_type] if isinstance(bc_type, str) else list(bc_type)
    if len(both) != 2:
        raise ValueError("CubicSpline: `bc_type` must contain 2 elements to specify start and end conditions")
    found = []
    for end in both:
        if isinstance(end, str):
            if end not in names:
                raise ValueError(
                    f"CubicSpline: bc_type={end} is not allowed; there are {', '.join(names)} and periodic"
                )
            found.append(names[end])
        elif end[0] not in (1, 2):
            raise ValueError("CubicSpline: the specified derivative order must be 1 or 2")
        else:
            found.append((int(end[0]), end[1]))
    return found


def _slopes(x: Any, y: Any, bc_type: Any) -> Any:
    """Slopes at the points, of equations for the continuity of the second derivative and for the two ends."""
    start, end = _conditions(bc_type)
    steps, chords = _steps(x, y)
    if y.shape[0] == 2:
        start, end = ((1, chords[0]) if one == "not-a-knot" else one for one in (start, end))
    if y.shape[0] == 3 and start == end == "not-a-knot":
        return _slopes_of_parabola(steps, chords)
    h = steps.reshape(-1)
    first, last = _equation(start, h, steps, chords, y), _equation(end, h.flip(0), steps.flip(0), chords.flip(0), y, -1)
    inner = 3 * (steps[1:] * chords[:-1] + steps[:-1] * chords[1:])
    diagonal = generated.cat([first[0], 2 * (h[:-1] + h[1:]), last[0]])
    above = generated.cat([h.new_zeros(1), first[1], h[:-1]])
    below = generated.cat([h[1:], last[1], h.new_zeros(1)])
    right = generated.cat([first[2].unsqueeze(0), inner, last[2].unsqueeze(0)])
    flat = right.reshape(right.shape[0], -1)
    return linalg.solve_banded((1, 1), generated.stack([above, diagonal, below]), flat).reshape(right.shape)


def _equation(condition: Any, h: Any, steps: Any, chords: Any, y: Any, sign: int = 1) -> tuple[Any, Any, Any]:
    """Factors of the slopes at an end and next to it, and their sum. At the far end everything is given from there."""
    if condition == "not-a-knot":
        width = steps[0] + steps[1]
        total = ((steps[0] + 2 * width) * steps[1] * chords[0] + steps[0] ** 2 * chords[1]) / width
        return h[1:2], (h[0] + h[1]).reshape(1), total
    order, value = condition
    value = as_tensor(value).to(y.dtype).expand(*y.shape[1:])
    if order == 1:
        return ones_like(h[:1]), zeros_like(h[:1]), value
    return 2 * h[:1], h[:1], sign * -0.5 * value * steps[0] ** 2 + 3 * (chords[0] * steps[0])


def _slopes_of_parabola(steps: Any, chords: Any) -> Any:
    bend = (chords[1] - chords[0]) / (steps[0] + steps[1])
    first = chords[0] - bend * steps[0]
    return generated.stack([first, first + 2 * bend * steps[0], first + 2 * bend * (steps[0] + steps[1])])


def _periodic_slopes(x: Any, y: Any) -> Any:
    if not without_data([y]) and not np.allclose(array_of(y[0]), array_of(y[-1]), rtol=1e-15, atol=1e-15):
        raise ValueError("CubicSpline: the first and last `y` point must be identical when `bc_type='periodic'`")
    steps, chords = _steps(x, y)
    if y.shape[0] == 2:
        return zeros_like(y)
    count = y.shape[0] - 1
    h = steps.reshape(-1)
    before, before_chord = h.roll(1), chords.roll(1, 0)
    before_steps = steps.roll(1, 0)
    eye = wrapped(np.eye(count, dtype=h.dtype))
    matrix = eye * (2 * (h + before)).unsqueeze(1)
    matrix = matrix + eye.roll(-1, 0) * before.unsqueeze(1)  # the factors of the slope behind
    matrix = matrix + eye.roll(1, 0) * h.unsqueeze(1)
    right = 3 * (steps * before_chord + before_steps * chords)
    found = linalg.solve(matrix, right.reshape(count, -1)).reshape(right.shape)
    return generated.cat([found, found[:1]])


# ---- interp1d


class interp1d:
    """A function through given points, of one of several kinds.

    Parameters
    ----------
    x, y : array_like
        Places, and values with the places along `axis`.
    kind : str or int
        "linear", "slinear", "nearest", "nearest-up", "zero", "previous", "next", "quadratic", "cubic", or the degree of
        a spline.
    bounds_error : bool, optional
        Raise for places beyond the points; by default unless `fill_value` is given.
    fill_value : array_like, pair, or "extrapolate"
        What is beyond the points, or below and above them.
    assume_sorted : bool
        The places are ascending already.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Any = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        self.x, values = common([floating(as_tensor(x)), floating(as_tensor(y))])
        self.axis = axis_of(axis, values.ndim)
        self.y = values.movedim(self.axis, 0)
        if self.x.ndim != 1 or self.x.shape[0] != self.y.shape[0]:
            raise ValueError("interp1d: x and y arrays must be equal in length along interpolation axis.")
        if not assume_sorted:
            order = wrapped(np.argsort(array_of(self.x), kind="mergesort"))
            self.x, self.y = self.x[order], self.y[order]
        if isinstance(fill_value, str) and kind in (
            "previous",
            "next",
        ):  # nothing is before the first, or behind the last
            bounds_error = bool(bounds_error)
            fill_value = (np.nan, self.y[-1]) if kind == "previous" else (self.y[0], np.nan)
        self.extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.fill_value = fill_value
        given = not (isinstance(fill_value, float) and np.isnan(fill_value))
        self.bounds_error = (not given) if bounds_error is None else bounds_error
        if self.extrapolates and bounds_error:
            raise ValueError("interp1d: Cannot extrapolate and raise at the same time.")
        self._value = _kind(kind, self.x, self.y)

    def __call__(self, x: Any) -> Any:
        places = floating(as_tensor(x))
        shape, flat = places.shape, places.reshape(-1)
        result = self._value(flat)
        if not self.extrapolates:
            result = self._bounded(result, array_of(flat))
        rest = result.shape[1:]
        result = result.reshape((*shape, *rest))
        order = [len(shape) + i for i in range(self.axis)]
        return result.permute(*order, *range(len(shape)), *range(len(shape) + self.axis, result.ndim))

    def _bounded(self, result: Any, places: Any) -> Any:
        ends = array_of(self.x[0]), array_of(self.x[-1])
        below, above = places < ends[0], places > ends[1]
        for side, name, end in ((below, "below", ends[0]), (above, "above", ends[1])):
            if self.bounds_error and side.any():
                raise ValueError(
                    f"interp1d: A value ({places[side][0]}) in x_new is {name} the interpolation range's "
                    f"{'minimum' if name == 'below' else 'maximum'} value ({end})."
                )
        fills = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value,) * 2
        for side, fill in zip((below, above), fills):
            if side.any():
                mask = wrapped(side.reshape(-1, *[1] * (result.ndim - 1)))
                result = generated.where(mask, as_tensor(fill).to(result.dtype), result)
        return result


_DEGREES = {"slinear": 1, "quadratic": 2, "cubic": 3}


def _kind(kind: Any, x: Any, y: Any) -> Any:
    """A function from places to values, those of the polynomials at the ends beyond the points."""
    if kind in _DEGREES or isinstance(kind, int):
        degree = _DEGREES.get(kind, kind)
        return make_interp_spline(x, y, k=degree) if degree else _steps_of("previous", x, y)
    if kind == "linear":
        return PiecewisePolynomial(generated.stack([_steps(x, y)[1], y[:-1]]), x)
    if kind in ("nearest", "nearest-up", "previous", "next", "zero"):
        return _steps_of("previous" if kind == "zero" else kind, x, y)
    raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")


def _steps_of(kind: str, x: Any, y: Any) -> Any:
    """One of the given values, that of the point before, behind, or nearest."""

    def value(places: Any) -> Any:
        knots, new = array_of(x), array_of(places)
        if kind in ("nearest", "nearest-up"):
            middles = (knots[1:] + knots[:-1]) / 2
            chosen = np.searchsorted(middles, new, side="left" if kind == "nearest" else "right")
        elif kind == "previous":
            chosen = np.searchsorted(knots, new, side="right") - 1
        else:
            chosen = np.searchsorted(knots, new, side="left")
        return y[wrapped(np.clip(chosen, 0, len(knots) - 1))]

    return value
