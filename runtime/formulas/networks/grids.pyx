"""The taps of points of a grid, where nothing but their values is wanted."""

cimport numpy as cnp

from gradsmith.runtime.arrays.functions.grids.points cimport places_of_points
from gradsmith.runtime.formulas.written cimport is_computed_alone
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of
from gradsmith.runtime.history.observers cimport watching

from gradsmith.runtime.graph.tensor import from_array

cnp.import_array()


def places_alone(TensorBase grid not None, sizes, bint nearest, int padding, bint aligned):
    """The places only, which have no derivative; None for a grid with an observer."""
    if watching or not is_real(grid):
        return None
    return from_array(places_of_points(array_of(grid), sizes, nearest, padding, aligned)[0])


def taps_alone(TensorBase grid not None, sizes, bint nearest, int padding, bint aligned):
    """Places and weights, (images, taps, points); None for a grid with a history, a tangent or an observer.

    `padding` counts zeros, border and reflection. With `nearest` there are no weights.
    """
    if not is_computed_alone(grid, None) or not is_real(grid):
        return None
    places, weights = places_of_points(array_of(grid), sizes, nearest, padding, aligned)
    return from_array(places), None if weights is None else from_array(weights)


cdef bint is_real(TensorBase grid) noexcept:
    cdef int type_number = cnp.PyArray_TYPE(<cnp.ndarray>grid.array)
    return type_number == cnp.NPY_FLOAT32 or type_number == cnp.NPY_FLOAT64
