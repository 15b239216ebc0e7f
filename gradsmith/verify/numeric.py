"""Gradients by differences, with which those of the ops are compared.

Everything is reduced to one real number: the loss `Re(sum(conj(w) * out))` over all results, with fixed weights w. Its
gradient is what `backward` gives for the gradients w of the results. Of a complex input z = x + iy the gradient is
dL/dx + i dL/dy, twice the conjugate Wirtinger derivative, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd.gradcheck.differences import CENTRAL, FOURTH_ORDER, STEP, Functions, Stencil, unit

from .proof import largest
from .samples import seed_of

if TYPE_CHECKING:
    from .samples import Array

WIDE: Stencil = ((-2, -1 / 4), (2, 1 / 4))
STEPS = (STEP, STEP / 16, STEP / 256)
AGREE = 1e-4  # relative: differences over one step and over two that agree as well are exact to the square of that
ROUNDED = 2e-11  # what rounding values of the order of one leaves in their differences, with the step that is taken


def weights_like(arrays: Sequence[Array], name: str) -> list[Array]:
    """One weight array for each result, the same in every run."""
    random = np.random.default_rng(seed_of(name))
    return [draw(random, array) for array in arrays]


def draw(random: np.random.Generator, array: Array) -> Array:
    values: Any = random.normal(size=array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * random.normal(size=array.shape)
    return np.asarray(values, array.dtype)


def draw_along(random: np.random.Generator, array: Array) -> Array:
    return shaped_like(draw(random, array), array)


def shaped_like(drawn: Array, array: Array) -> Array:
    """Hermitian where the array is: there, what reads one triangle changes like what reads both."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        return drawn
    if not np.allclose(array, array.conj().swapaxes(-1, -2)):
        return drawn
    return np.asarray(0.5 * (drawn + drawn.conj().swapaxes(-1, -2)), array.dtype)


def inner(one: Array, other: Array) -> float:
    """Real part of the inner product."""
    return float(np.sum(np.conj(one) * other).real)


def magnitude(ones: Sequence[Array], others: Sequence[Array]) -> float:
    """Sum of the magnitudes of the terms of inner products."""
    return float(sum(np.sum(np.abs(one) * np.abs(other)) for one, other in zip(ones, others)))


def loss(results: Sequence[Array], weights: Sequence[Array]) -> float:
    return sum(inner(w, r) for w, r in zip(weights, results))


def terms_of(expected: Array, values: Sequence[Array] | float, tolerance: float) -> float:
    """Magnitude of the terms of a derivative by differences of some values, which are rounded before that."""
    size = values if isinstance(values, float) else max(map(largest, values), default=0.0)
    return largest(expected) + ROUNDED / tolerance * size


def slopes(function: Functions, array: Array, direction: Array) -> list[Array]:
    """Derivatives by differences, over smaller steps where a result bends much within one, as near a pole."""
    found, straight = at_step(function, array, direction, STEPS[0])
    for step in STEPS[1:]:
        if all(map(np.all, straight)):
            break
        nearer, straighter = at_step(function, array, direction, step)
        better = [new & ~old for old, new in zip(straight, straighter)]  # what never is straight is rounding alone
        found = [np.where(one, new, old) for one, old, new in zip(better, found, nearer)]
        straight = [old | new for old, new in zip(straight, straighter)]
    return found


def at_step(function: Functions, array: Array, direction: Array, step: float) -> tuple[list[Array], list[Array]]:
    """Differences over one size of steps, and where the results are so straight that these can be trusted."""
    values = {n: function(np.asarray(array + step * n * direction)) for n, _ in FOURTH_ORDER}
    columns = [dict(zip(values, column)) for column in zip(*values.values())]
    return [combined(FOURTH_ORDER, column) / step for column in columns], [is_straight(column) for column in columns]


def combined(stencil: Stencil, values: Mapping[int, Array]) -> Array:
    return np.asarray(sum(weight * values[n] for n, weight in stencil))


def is_straight(values: Mapping[int, Array]) -> Array:
    """Do differences over one step and over two agree, as far as these are not small beside the values?"""
    near, far = combined(CENTRAL, values), combined(WIDE, values)
    with np.errstate(all="ignore"):
        return np.asarray(~(np.abs(near - far) > AGREE * (np.abs(near) + STEP * np.abs(values[1]))))


def slope(function: Callable[[Array], Any], array: Array, direction: Array) -> Any:
    """The same of a function with one result, a number or an array."""
    (found,) = slopes(lambda moved: [function(moved)], array, direction)
    return found


def gradient(function: Callable[[Array], float], array: Array) -> Array:
    """Gradient of the real-valued `function` at an array, element by element."""
    result = np.zeros(array.shape, array.dtype)
    for place in np.ndindex(array.shape):
        result[place] = slope(function, array, unit(array, place, 1))
        if array.dtype.kind == "c":
            result[place] += 1j * slope(function, array, unit(array, place, 1j))
    return result
