"""The greatest or smallest elements along a dimension; see Note [Few of many] in selection_kernels.c."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.string cimport memcpy
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, clone_by_rows, contiguous, is_meta
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_of_sizes, take

import numpy as np

from gradsmith.runtime.arrays.array import parallel_loop
from gradsmith.runtime.arrays.functions.counting.ordering import first_of_sorted_rows

cnp.import_array()

cdef extern from "runtime/arrays/functions/counting/selection_kernels.h":
    ctypedef struct Selection "gs_selection":
        int type
        int largest
        const char *rows
        npy_intp n
        npy_intp k
        char *values
        cnp.npy_int64 *places
    bint gs_can_select(int type, npy_intp n, npy_intp k) noexcept
    void gs_select_rows(void *selection, npy_intp first, npy_intp last) noexcept nogil

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


cpdef tuple topk_of(object a, object k, Py_ssize_t dim, bint largest, bint sorted):
    """The k greatest or smallest in order, with their places; equal ones in the order of these, and NaN the greatest."""
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim = cnp.PyArray_NDIM(a), axis = wrap_dim(dim, ndim)
    cdef npy_intp length = cnp.PyArray_DIM(a, axis) if ndim else 1
    if not 0 <= k <= length:
        raise RuntimeError(
            f"topk(): selected index k out of range: k is {k}, but dimension {dim} has {length} elements"
        )
    if ndim:
        memcpy(sizes, cnp.PyArray_DIMS(a), ndim * sizeof(npy_intp))
        sizes[axis] = k
    if is_meta(<PyObject *>a):
        return fresh_of_sizes(a, cnp.PyArray_TYPE(a), ndim, sizes), fresh_of_sizes(a, cnp.NPY_INT64, ndim, sizes)
    return selected(a, axis, k, largest, sizes) if ndim else (a.copy(), np.zeros((), np.int64))


cdef tuple selected(object a, int axis, npy_intp k, bint largest, npy_intp *sizes):
    """What `topk_of` gives, of the given sizes."""
    cdef int ndim = cnp.PyArray_NDIM(a), type_number = cnp.PyArray_TYPE(a)
    if type_number == cnp.NPY_FLOAT16:
        values, places = selected(take(cast(<PyObject *>a, cnp.NPY_FLOAT32)), axis, k, largest, sizes)
        return take(cast(<PyObject *>values, cnp.NPY_FLOAT16)), places
    if not gs_can_select(type_number, cnp.PyArray_DIM(a, axis), k):
        return first_of_sorted_rows(a, axis, k, largest)
    if axis != ndim - 1:
        sizes[axis], sizes[ndim - 1] = sizes[ndim - 1], k
        a = a.swapaxes(axis, ndim - 1)
    values, places = fresh_of_sizes(a, type_number, ndim, sizes), fresh_of_sizes(a, cnp.NPY_INT64, ndim, sizes)
    select_in_rows(take(contiguous(<PyObject *>a)), k, largest, values, places)
    if axis != ndim - 1:
        values, places = by_rows(values.swapaxes(axis, ndim - 1)), by_rows(places.swapaxes(axis, ndim - 1))
    return values, places


cdef object by_rows(object a):
    return take(clone_by_rows(<PyObject *>a))


cdef int select_in_rows(object rows, npy_intp k, bint largest, object values, object places) except -1:
    cdef Selection selection
    cdef npy_intp n = cnp.PyArray_DIM(rows, cnp.PyArray_NDIM(rows) - 1)
    if cnp.PyArray_SIZE(values) == 0:
        return 0
    selection.type, selection.largest = cnp.PyArray_TYPE(rows), largest
    selection.rows, selection.n, selection.k = <const char *>cnp.PyArray_DATA(rows), n, k
    selection.values, selection.places = <char *>cnp.PyArray_DATA(values), <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    parallel(gs_select_rows, &selection, cnp.PyArray_SIZE(rows) // n, n, 1)
    return 0
