"""Running maxima and minima along a dimension, and their places; see Note [Rare extremes] in extremes_kernels.c."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, contiguous, is_meta
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes, take

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/running/extremes_kernels.h":
    ctypedef struct Extremes "gs_running_extremes":
        int type
        int largest
        npy_intp length
        npy_intp inner
        const char *a
        char *values
        cnp.npy_int64 *places
    npy_intp gs_extreme_tiles(npy_intp inner) noexcept
    void gs_run_extremes(void *extremes, npy_intp first, npy_intp last) noexcept nogil
    bint gs_has_extremes(int type) noexcept

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


cpdef tuple cummax_of(object a, Py_ssize_t dim):
    return running_extremes("cummax", a, wrap_dim(dim, cnp.PyArray_NDIM(a)), True)


cpdef tuple cummin_of(object a, Py_ssize_t dim):
    return running_extremes("cummin", a, wrap_dim(dim, cnp.PyArray_NDIM(a)), False)


cdef tuple running_extremes(str op, object a, int axis, bint largest):
    cdef int ndim = cnp.PyArray_NDIM(a), type_number = cnp.PyArray_TYPE(a)
    values = fresh_of_sizes(a, type_number, ndim, cnp.PyArray_DIMS(a))
    places = fresh_of_sizes(a, cnp.NPY_INT64, ndim, cnp.PyArray_DIMS(a))
    if is_meta(<PyObject *>a) or cnp.PyArray_SIZE(a) == 0:
        return values, places
    if type_number == cnp.NPY_FLOAT16:
        values, places = running_extremes(op, take(cast(<PyObject *>a, cnp.NPY_FLOAT32)), axis, largest)
        return take(cast(<PyObject *>values, cnp.NPY_FLOAT16)), places
    if not gs_has_extremes(type_number):
        raise NotImplementedError(f"{op}(): not defined for {a.dtype}")
    run_along(take(contiguous(<PyObject *>a)), axis, largest, values, places)
    return values, places


cdef int run_along(object a, int axis, bint largest, object values, object places) except -1:
    cdef int i
    cdef npy_intp outer = 1, tiles
    cdef Extremes extremes
    extremes.type, extremes.largest = cnp.PyArray_TYPE(a), largest
    extremes.length = extremes.inner = 1
    for i in range(cnp.PyArray_NDIM(a)):
        if i < axis:
            outer *= cnp.PyArray_DIM(a, i)
        elif i == axis:
            extremes.length = cnp.PyArray_DIM(a, i)
        else:
            extremes.inner *= cnp.PyArray_DIM(a, i)
    extremes.a, extremes.values = <const char *>cnp.PyArray_DATA(a), <char *>cnp.PyArray_DATA(values)
    extremes.places = <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    tiles = outer * gs_extreme_tiles(extremes.inner)
    parallel(gs_run_extremes, &extremes, tiles, cnp.PyArray_SIZE(a) // tiles, 1)
    return 0
