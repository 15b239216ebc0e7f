"""The most frequent element along a dimension."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, contiguous, is_meta
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_of_sizes, take

import numpy as np

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/frequency/modes_kernels.h":
    const npy_intp FEW_ORDERED "GS_FEW_ORDERED"
    ctypedef struct Modes "gs_modes":
        int type
        const char *rows
        const char *ordered
        npy_intp n
        char *values
        cnp.npy_int64 *places
    bint gs_has_modes(int type) noexcept
    void gs_find_modes(void *modes, npy_intp first, npy_intp last) noexcept nogil

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


cpdef tuple mode_of(object a, Py_ssize_t dim, bint keepdim):
    """Each row's most frequent element, the smallest if several are equally frequent, and its last place.

    No NaN equals another. One at the start of a row in which nothing is there twice is taken, as in PyTorch.
    """
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim = cnp.PyArray_NDIM(a), axis = wrap_dim(dim, ndim), count = 0, d
    for d in range(ndim):
        if d != axis or keepdim:
            sizes[count] = 1 if d == axis else cnp.PyArray_DIM(a, d)
            count += 1
    values = fresh_of_sizes(a, cnp.PyArray_TYPE(a), count, sizes)
    places = fresh_of_sizes(a, cnp.NPY_INT64, count, sizes)
    if is_meta(<PyObject *>a):
        return values, places
    if ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    if cnp.PyArray_DIM(a, axis) == 0:
        raise IndexError(f"mode(): Expected reduction dim {axis} to have non-zero size.")
    find_in_rows(a if axis == ndim - 1 else a.swapaxes(axis, ndim - 1), values, places)
    if axis < ndim - 2:     # the sizes were those of the result, but the rows come in another order
        return in_order_of_rows(a, axis, values), in_order_of_rows(a, axis, places)
    return values, places


cdef object in_order_of_rows(object a, int axis, object found):
    """The elements, one for each row of the dimension, in the order of those rows."""
    cdef list shape = list(a.shape)
    cdef int last = cnp.PyArray_NDIM(a) - 1
    shape[axis], shape[last] = shape[last], 1
    return np.ascontiguousarray(found.reshape(shape).swapaxes(axis, last)).reshape(found.shape)


cdef int find_in_rows(object rows, object values, object places) except -1:
    cdef Modes m
    cdef int type_number = cnp.PyArray_TYPE(rows)
    if not gs_has_modes(type_number):       # float16, whose numbers float32 has
        wide = take(cast(<PyObject *>values, cnp.NPY_FLOAT32))
        find_in_rows(take(cast(<PyObject *>rows, cnp.NPY_FLOAT32)), wide, places)
        values[...] = wide
        return 0
    rows = take(contiguous(<PyObject *>rows))
    m.type, m.n = type_number, cnp.PyArray_DIM(rows, cnp.PyArray_NDIM(rows) - 1)
    ordered = np.sort(rows, -1) if m.n > FEW_ORDERED else None
    m.rows = <const char *>cnp.PyArray_DATA(rows)
    m.ordered = NULL
    if ordered is not None:
        m.ordered = <const char *>cnp.PyArray_DATA(<cnp.ndarray>ordered)
    m.values, m.places = <char *>cnp.PyArray_DATA(values), <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    if cnp.PyArray_SIZE(values):
        parallel(gs_find_modes, &m, cnp.PyArray_SIZE(values), m.n, 1)
    return 0
