"""Gradients by differences, with which those of the ops are compared.

Everything is reduced to one real number: the loss `Re(sum(conj(w) * out))` over all results, with fixed weights w. Its
gradient is what `backward` gives for the gradients w of the results. Of a complex input z = x + iy the gradient is
dL/dx + i dL/dy, twice the conjugate Wirtinger derivative, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd.gradcheck.differences import slope, unit

from .proof import largest
from .samples import seed_of

if TYPE_CHECKING:
    from .samples import Array

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


def gradient(function: Callable[[Array], float], array: Array) -> Array:
    """Gradient of the real-valued `function` at an array, element by element."""
    result = np.zeros(array.shape, array.dtype)
    for place in np.ndindex(array.shape):
        result[place] = slope(function, array, unit(array, place, 1))
        if array.dtype.kind == "c":
            result[place] += 1j * slope(function, array, unit(array, place, 1j))
    return result
