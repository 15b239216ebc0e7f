"""B-splines for tensors, of `gradsmith.scipy.interpolate`."""

from __future__ import annotations

from typing import Any

import gradsmith.generated as generated
import gradsmith.linalg
from gradsmith.numpy.arguments import array_of, as_tensor, axis_of, common, floating, np, wrapped
from gradsmith.runtime.tensors.factories.creation import ones_like, zeros_like
from gradsmith.scipy.piecewise import nan_where, placed, points

linalg: Any = gradsmith.linalg

__all__ = ["BSpline", "make_interp_spline"]


class BSpline:
    """A sum of basis splines of one degree.

    Parameters
    ----------
    t : array_like
        Knots, not descending; ``n + k + 1`` of them.
    c : array_like
        Coefficients, at least n along `axis`.
    k : int
        Degree.
    extrapolate : bool or "periodic"
        Whether the polynomials at the ends go on beyond the base interval ``t[k] .. t[n]``, where there is NaN
        otherwise.
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        self.t, values = common([floating(as_tensor(t)), floating(as_tensor(c))])
        self.k, self.extrapolate, self.axis = int(k), extrapolate, axis_of(axis, values.ndim)
        self.c = values.movedim(self.axis, 0)
        count = self.t.shape[0] - self.k - 1
        if self.t.ndim != 1 or self.k < 0 or count < self.k + 1 or self.c.shape[0] < count:
            raise ValueError(
                f"BSpline: degree {self.k} needs at least {2 * self.k + 2} knots, and as many coefficients as there "
                f"are knots without the {self.k + 1} last; found {self.t.shape[0]} knots and {self.c.shape[0]} "
                "coefficients"
            )
        if (np.diff(array_of(self.t)) < 0).any():
            raise ValueError("BSpline: Knots must be in a non-decreasing order.")

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Values at `x`, or those of the derivative of order `nu` there."""
        if nu:
            return self.derivative(nu)(x, 0, self.extrapolate if extrapolate is None else extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        places, knots = common([floating(as_tensor(x)), self.t])
        shape, places = places.shape, places.reshape(-1)
        count = knots.shape[0] - self.k - 1
        first, last = knots[self.k], knots[count]
        if extrapolate == "periodic":
            places = first + generated.remainder(places - first, last - first)
        span = span_of(array_of(knots), self.k, array_of(places))
        weights = basis(knots, self.k, places, span)
        chosen = self.c[wrapped(span[:, None] - self.k + np.arange(self.k + 1))]
        result = (chosen * weights.reshape(*weights.shape, *[1] * (self.c.ndim - 1))).sum(1)
        if extrapolate is False or extrapolate is None:
            values = array_of(places)
            result = nan_where(result, (values < array_of(first)) | (values > array_of(last)))
        return placed(result, shape, self.axis)

    def derivative(self, nu: int = 1) -> BSpline:
        """The derivative of order `nu`, a spline of a lower degree."""
        if nu < 0:
            raise NotImplementedError("BSpline.derivative: nu must not be negative")
        knots, c, k = self.t, self.c, self.k
        for _ in range(nu):
            if k == 0:
                c = zeros_like(c)
                break
            count = knots.shape[0] - k - 1
            widths = knots[k + 1 : k + count] - knots[1:count]
            empty = widths == 0  # knots in one place, which make no difference
            factors = generated.where(empty, 0.0, k / generated.where(empty, 1.0, widths))
            c = (c[1:count] - c[: count - 1]) * factors.reshape(-1, *[1] * (c.ndim - 1))
            knots, k = knots[1:-1], k - 1
        return BSpline(knots, c.movedim(0, self.axis), k, self.extrapolate, self.axis)


def span_of(knots: Any, k: int, places: Any) -> Any:
    """For each place the number of the knot that begins its interval, within the base interval."""
    return np.clip(np.searchsorted(knots, places, side="right") - 1, k, len(knots) - k - 2)


def basis(knots: Any, k: int, places: Any, span: Any) -> Any:
    """The ``k + 1`` basis splines that are not zero at each place, by the recursion of Cox and de Boor."""
    found = [ones_like(places)]
    for degree in range(1, k + 1):
        following = [zeros_like(places) for _ in range(degree + 1)]
        for j in range(degree):
            right, left = knots[wrapped(span + j + 1)], knots[wrapped(span + j + 1 - degree)]
            share = found[j] / (right - left)
            following[j] = following[j] + (right - places) * share
            following[j + 1] = following[j + 1] + (places - left) * share
        found = following
    return generated.stack(found, 1)


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> BSpline:
    """The spline of degree `k` through the points, differentiable by their places and their values.

    Parameters
    ----------
    x, y : array_like
        Ascending places, and values with the places along `axis`.
    t : array_like, optional
        Knots; by default some of the places, so that there is one spline.
    bc_type : {None, "not-a-knot"}
        Conditions at the ends; `CubicSpline` has others.
    """
    if bc_type not in (None, "not-a-knot"):
        raise NotImplementedError(
            f"make_interp_spline: bc_type is None or 'not-a-knot', not {bc_type!r}; CubicSpline has others"
        )
    places, values, place = points("make_interp_spline", x, y, axis)
    if not 0 <= k < places.shape[0]:
        raise ValueError(f"make_interp_spline: degree {k} needs more than {k} points, but there are {places.shape[0]}")
    knots = _knots(places, k) if t is None else floating(as_tensor(t)).to(places.dtype)
    count = places.shape[0]
    if knots.shape[0] != count + k + 1:
        raise ValueError(f"make_interp_spline: {count} points and degree {k} need {count + k + 1} knots")
    span = span_of(array_of(knots), k, array_of(places))
    weights = basis(knots, k, places, span)
    rows = np.arange(count)[:, None]
    matrix = places.new_zeros((count, count)).index_put(
        (wrapped(np.broadcast_to(rows, weights.shape).copy()), wrapped(span[:, None] - k + np.arange(k + 1))), weights
    )
    found = linalg.solve(matrix, values.reshape(count, -1)).reshape(values.shape)
    return BSpline(knots, found.movedim(0, place), k, True, place)


def _knots(x: Any, k: int) -> Any:
    """Without a knot at places next to the ends; between the places for even degrees."""
    if k == 0:
        return generated.cat([x, x[-1:]])
    inner, left_out = (x, (k + 1) // 2) if k % 2 else ((x[1:] + x[:-1]) / 2, k // 2)
    inner = inner[left_out : inner.shape[0] - left_out]
    return generated.cat([x[:1].expand(k + 1), inner, x[-1:].expand(k + 1)])
