"""Gradients by finite differences.

Everything is reduced to one real number: the loss `Re(sum(conj(w) * out))` over all results, with fixed weights w. Its
gradient is what `backward` gives for the gradients w of the results. Of a complex input z = x + iy the gradient is
dL/dx + i dL/dy, twice the conjugate Wirtinger derivative, as in PyTorch.
"""

import zlib

import numpy as np

STEP = 1e-3
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))  # exact to the fourth order


def weights_like(arrays, name):
    """One weight array for each result, the same in every run."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return [draw(random, array) for array in arrays]


def draw(random, array):
    values = random.normal(size=array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * random.normal(size=array.shape)
    return np.asarray(values, array.dtype)


def loss(results, weights):
    return sum(float(np.sum(np.conj(w) * r).real) for w, r in zip(weights, results))


def gradient(function, array):
    """Gradient of the real-valued `function` at an array, element by element."""
    result = np.zeros(array.shape, array.dtype)
    for place in np.ndindex(array.shape):
        result[place] = slope(function, array, unit(array, place, 1))
        if array.dtype.kind == "c":
            result[place] += 1j * slope(function, array, unit(array, place, 1j))
    return result


def unit(array, place, value):
    direction = np.zeros_like(array)
    direction[place] = value
    return direction


def slope(function, array, direction):
    """Derivative of `function` at an array along one direction."""
    return sum(factor * function(np.asarray(array + STEP * n * direction)) for n, factor in STENCIL) / STEP
