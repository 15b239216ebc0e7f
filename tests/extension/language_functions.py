"""Array functions of language.yaml."""

import numpy as np


def weighted_of(array, size, mask, weights, factors, names):
    three = 3 if names[:1] == ("three",) else 1
    return array * (size[0] * size[1] * factors[1] * (1 + mask[2]) * (1 if weights is None else weights[0]) * three)


def joined_of(parts, more):
    return total_of((*parts, *(more or ())))


def total_of(parts):
    return sum(part for part in parts if part is not None)


def products_of(left, right):
    """Tensor by tensor; zeros where one is missing."""
    return [np.zeros_like(b if a is None else a) if a is None or b is None else a * b for a, b in zip(left, right)]


KEPT = np.ones(3)


def constant_of(array):
    """The same array for everybody."""
    return KEPT
