"""Derivatives of functions of arrays: by differences, and by a step into the complex plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[[Array], Array]
Functions = Callable[[Array], Sequence[Array]]  # several results of one evaluation
Stencil = Sequence[tuple[int, float]]  # how many steps, and the weight of the value found there

STEP = 1e-3
CENTRAL: Stencil = ((-1, -1 / 2), (1, 1 / 2))
FOURTH_ORDER: Stencil = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
IMAGINARY_STEP = 1e-30  # nothing is subtracted, so nothing is lost
ANALYTIC = 1e-6  # relative and absolute: how well the derivatives in two directions have to agree


def unit(array: Array, place: tuple[int, ...], value: complex) -> Array:
    direction = np.zeros_like(array)
    direction[place] = value
    return direction


def slope(function: Callable[[Array], Any], array: Array, direction: Array) -> Any:
    """Derivative of `function`, a number or an array, at an array along one direction."""
    (found,) = slopes(lambda moved: [function(moved)], array, direction)
    return found


def slopes(
    function: Functions, array: Array, direction: Array, step: float = STEP, stencil: Stencil = FOURTH_ORDER
) -> list[Array]:
    """The same of several results."""
    values = [function(np.asarray(array + step * n * direction)) for n, _ in stencil]
    return [sum(factor * value for (_, factor), value in zip(stencil, column)) / step for column in zip(*values)]


def complex_slope(function: Function, array: Array, direction: Array) -> Array | None:
    """Derivative of a function that takes complex numbers, at a real array, to full precision. See `complex_slopes`."""
    (found,) = complex_slopes(lambda moved: [function(moved)], array, direction)
    return found


def complex_slopes(function: Functions, array: Array, direction: Array) -> list[Array | None]:
    """The same of several results; None for one that is neither analytic nor the conjugate of something analytic.

    Analytic is what has one derivative in all directions of the plane (Cauchy and Riemann). A gradient holds conjugates
    of derivatives, and so is often the conjugate of something analytic: then the step shows with the other sign.
    """
    point = array.astype(np.complex128)
    moved = function(np.asarray(point + 1j * IMAGINARY_STEP * direction))
    along, across = slopes(function, point, direction), slopes(function, point, 1j * direction)
    return [_signed(value.imag / IMAGINARY_STEP, x, y) for value, x, y in zip(moved, along, across)]


def _signed(found: Array, along: Array, across: Array) -> Array | None:
    plain, conjugate = np.abs(across - 1j * along), np.abs(across + 1j * along)
    if not np.all(np.minimum(plain, conjugate) <= ANALYTIC + ANALYTIC * np.abs(along)):
        return None
    return np.where(conjugate < plain, -found, found)
