"""The elements of images that the points of grids stand between: what the ops of nn/grids.py compute, in one pass."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport contiguous
from gradsmith.runtime.arrays.functions.ownership cimport fresh, take

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/grids/points_kernels.h":
    ctypedef struct Points "gs_points":
        int type
        int coordinates, nearest, padding, aligned
        npy_intp images, points
        npy_intp[3] sizes
        const void *grid
        cnp.npy_int64 *places
        void *weights
    void gs_find_places(void *points, npy_intp first, npy_intp last) noexcept nogil
    npy_intp gs_blocks_of_points(const Points *p) noexcept

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


cdef tuple places_of_points(object grid, object sizes, bint nearest, int padding, bint aligned):
    """Places and weights, (images, taps, points), of a grid of float32 or float64; no weights with `nearest`.

    `grid` is (images, ..., coordinates), `sizes` are those of the images, `padding` counts zeros, border, reflection.
    """
    cdef Points p
    cdef int d
    grid = take(contiguous(<PyObject *>grid))
    p.type, p.coordinates = cnp.PyArray_TYPE(grid), len(sizes)
    p.nearest, p.padding, p.aligned = nearest, padding, aligned
    for d in range(p.coordinates):
        p.sizes[d] = sizes[p.coordinates - 1 - d]
    p.images = cnp.PyArray_DIM(grid, 0)
    p.points = 1
    for d in range(1, cnp.PyArray_NDIM(grid) - 1):
        p.points *= cnp.PyArray_DIM(grid, d)
    taps = 1 if nearest else 1 << p.coordinates
    places = fresh(cnp.NPY_INT64, (p.images, taps, p.points))
    weights = None if nearest else fresh(p.type, (p.images, taps, p.points))
    p.grid, p.places = cnp.PyArray_DATA(grid), <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    p.weights = NULL if nearest else cnp.PyArray_DATA(weights)
    parallel(gs_find_places, &p, p.images * gs_blocks_of_points(&p), 256 * taps, 1)
    return places, weights
