"""Array functions of kinds.yaml."""

import numpy as np


def moving_average(array, times):
    for _ in range(times):
        array = (np.roll(array, 1) + array + np.roll(array, -1)) / 3
    return array


def at_even_places(array, shape):
    result = np.zeros(shape, array.dtype)
    result[::2] = array
    return result
