"""Derivatives by differences, and by steps into the complex plane.

Everything is reduced to one real number: the loss `Re(sum(conj(w) * out))` over all results, with fixed weights w. Its
gradient is what `backward` gives for the gradients w of the results. Of a complex input z = x + iy the gradient is
dL/dx + i dL/dy, twice the conjugate Wirtinger derivative, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .samples import seed_of

if TYPE_CHECKING:
    from .samples import Array

STEP = 1e-3
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))  # exact to the fourth order
IMAGINARY_STEP = 1e-30  # nothing is subtracted, so nothing is lost


def weights_like(arrays: Sequence[Array], name: str) -> list[Array]:
    """One weight array for each result, the same in every run."""
    random = np.random.default_rng(seed_of(name))
    return [draw(random, array) for array in arrays]


def draw(random: np.random.Generator, array: Array) -> Array:
    values: Any = random.normal(size=array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * random.normal(size=array.shape)
    return np.asarray(values, array.dtype)


def inner(one: Array, other: Array) -> float:
    """Real part of the inner product."""
    return float(np.sum(np.conj(one) * other).real)


def loss(results: Sequence[Array], weights: Sequence[Array]) -> float:
    return sum(inner(w, r) for w, r in zip(weights, results))


def gradient(function: Callable[[Array], float], array: Array) -> Array:
    """Gradient of the real-valued `function` at an array, element by element."""
    result = np.zeros(array.shape, array.dtype)
    for place in np.ndindex(array.shape):
        result[place] = slope(function, array, unit(array, place, 1))
        if array.dtype.kind == "c":
            result[place] += 1j * slope(function, array, unit(array, place, 1j))
    return result


def unit(array: Array, place: tuple[int, ...], value: complex) -> Array:
    direction = np.zeros_like(array)
    direction[place] = value
    return direction


def slope(function: Callable[[Array], Any], array: Array, direction: Array) -> Any:
    """Derivative of `function`, a number or an array, at an array along one direction."""
    steps = (factor * function(np.asarray(array + STEP * n * direction)) for n, factor in STENCIL)
    return sum(steps) / STEP


def complex_slope(function: Callable[[Array], Array], array: Array, direction: Array) -> Array | None:
    """The same of an analytic function at a real array, to full precision; None of any other function.

    Analytic is what has one derivative in all directions of the plane (Cauchy and Riemann).
    """
    point = array.astype(np.complex128)
    along, across = slope(function, point, direction), slope(function, point, 1j * direction)
    if not np.allclose(across, 1j * along, rtol=1e-6, atol=1e-6):
        return None
    moved = np.asarray(point + 1j * IMAGINARY_STEP * direction)
    return np.asarray(function(moved).imag / IMAGINARY_STEP)
