"""Piecewise polynomials, for `gradsmith.scipy.interpolate`.

The search for the interval that contains a point has no derivative; everything else is computed by ops, so the
functions are differentiable with respect to the evaluation points, the breakpoints and the values.
"""

from __future__ import annotations

import math
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import array_of, as_tensor, axis_of, common, floating, np, without_data, wrapped
from gradsmith.runtime.tensors.factories.creation import zeros_like


class PiecewisePolynomial:
    """Polynomials of ``x - breakpoint`` in the intervals between breakpoints.

    Parameters
    ----------
    c : Tensor, shape (k + 1, n - 1, ...)
        Coefficients, those of the highest power first.
    x : Tensor, shape (n,)
        Breakpoints, ascending.
    extrapolate : bool or "periodic"
        Whether to evaluate the first and last polynomials beyond the breakpoints; otherwise the result there is NaN.
    axis : int
        The axis of the values along which they are interpolated.
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = True, axis: int = 0) -> None:
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, axis

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Values at `x`, or those of the derivative of order `nu` there."""
        if nu < 0:
            return self.antiderivative(-nu)(x, 0, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        places, knots = common([floating(as_tensor(x)), self.x])
        shape = places.shape
        places = places.reshape(-1)
        if extrapolate == "periodic":
            start, period = knots[0], knots[-1] - knots[0]
            places = start + generated.remainder(places - start, period)
        values = array_of(places)
        piece = np.clip(np.searchsorted(array_of(knots), values, side="right") - 1, 0, knots.shape[0] - 2)
        index = wrapped(piece)
        distance = places - knots[index]
        result = _polynomial(_derived(self.c, nu)[:, index], distance)
        if extrapolate is False or extrapolate is None:
            result = nan_where(result, (values < array_of(knots[0])) | (values > array_of(knots[-1])))
        return placed(result, shape, self.axis)

    def derivative(self, nu: int = 1) -> PiecewisePolynomial:
        """The derivative of order `nu`."""
        if nu < 0:
            return self.antiderivative(-nu)
        return PiecewisePolynomial(_derived(self.c, nu), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> PiecewisePolynomial:
        """The integral from the first breakpoint on, `nu` times."""
        if nu <= 0:
            return self.derivative(-nu)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        result = self
        for _ in range(nu):
            result = PiecewisePolynomial(_integrated(result.c, result.x), self.x, extrapolate, self.axis)
        return result

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`; beyond the breakpoints only where the function goes on there."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            raise NotImplementedError(
                "integrate: of a periodic function the integral within one period is known, that of "
                "antiderivative(); add the periods to it"
            )
        whole = PiecewisePolynomial(_integrated(self.c, self.x), self.x, extrapolate, self.axis)
        return whole(b) - whole(a)


def _derived(c: Any, nu: int) -> Any:
    if nu == 0:
        return c
    degree = c.shape[0] - 1
    if nu > degree:
        return zeros_like(c[:1])
    factors = [math.perm(degree - i, nu) for i in range(degree + 1 - nu)]
    return c[: degree + 1 - nu] * _column(factors, c)


def _integrated(c: Any, x: Any) -> Any:
    degree = c.shape[0]
    higher = c / _column([float(degree - i) for i in range(degree)], c)
    steps = (x[1:] - x[:-1]).reshape(-1, *[1] * (c.ndim - 2))
    ends = _polynomial(generated.cat([higher, zeros_like(c[:1])]), None, steps)
    starts = generated.cat([zeros_like(ends[:1]), ends[:-1].cumsum(0)])
    return generated.cat([higher, starts.unsqueeze(0)])


def _column(numbers: list[Any], c: Any) -> Any:
    return wrapped(np.asarray(numbers, c.dtype).reshape(-1, *[1] * (c.ndim - 1)))


def _polynomial(c: Any, distance: Any, spread: Any = None) -> Any:
    """Horner's scheme."""
    if spread is None:
        spread = distance.reshape(-1, *[1] * (c.ndim - 2))
    result = c[0]
    for coefficient in c[1:].unbind(0):
        result = result * spread + coefficient
    return result


def nan_where(result: Any, mask: Any) -> Any:
    if not mask.any():
        return result
    return generated.where(wrapped(mask.reshape(-1, *[1] * (result.ndim - 1))), math.nan, result)


def placed(result: Any, shape: Any, axis: int) -> Any:
    """The dimensions of the places, which are one and come first, in their place among those of the values."""
    rest = result.shape[1:]
    result = result.reshape((*shape, *rest))
    count = len(shape)
    if not axis or not rest:
        return result
    order = [*range(count, count + axis), *range(count), *range(count + axis, result.ndim)]
    return result.permute(*order)


def points(op: str, x: Any, y: Any, axis: int) -> tuple[Any, Any, int]:
    """The given points: places of one dimension, ascending, and values with these along the first dimension."""
    places, values = common([floating(as_tensor(x)), floating(as_tensor(y))])
    if places.ndim != 1 or values.ndim == 0:
        raise ValueError(f"{op}: x must have one dimension, and y at least one")
    place = axis_of(axis, values.ndim)
    if places.shape[0] != values.shape[place]:
        raise ValueError(
            f"{op}: x and y must have the same length along the axis, but x has {places.shape[0]} and y "
            f"{values.shape[place]} elements"
        )
    if places.shape[0] < 2:
        raise ValueError(f"{op}: x must contain at least 2 elements")
    if not without_data([places]) and (np.diff(array_of(places)) <= 0).any():
        raise ValueError(f"{op}: x must be strictly increasing sequence")
    return places, values.movedim(place, 0), place
