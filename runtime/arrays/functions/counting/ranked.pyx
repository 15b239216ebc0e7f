"""The element of a certain rank of each row; see Note [Ranks by counting] in ranked_kernels.c."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, contiguous
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_of_sizes, take

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/counting/ranked_kernels.h":
    ctypedef enum Ranked "gs_ranked":
        GS_RANK
        GS_MIDDLE
        GS_MIDDLE_OF_NUMBERS
    ctypedef struct Ranking "gs_ranking":
        int type
        Ranked wanted
        npy_intp rank
        const char *rows
        npy_intp n
        char *values
        cnp.npy_int64 *places
        int is_out_of_memory
    ctypedef struct ShortRows "gs_short_rows":
        int type
        int descending
        const char *rows
        npy_intp n
        char *values
        cnp.npy_int64 *places
    enum:
        GS_FEW_TO_ORDER
    bint gs_can_rank(int type) noexcept
    void gs_rank_rows(void *ranking, npy_intp first, npy_intp last) noexcept nogil
    void gs_order_short_rows(void *rows, npy_intp first, npy_intp last) noexcept nogil

cdef enum:
    LEAST = 6       # elements of a row that are put in order here: fewer are sooner inserted one by one

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


def ordered_short_rows(rows, bint descending):
    """All elements of each row in order, and their places; None of rows of other lengths, or of elements without a loop."""
    cdef ShortRows job
    cdef int ndim = cnp.PyArray_NDIM(rows), type_number = cnp.PyArray_TYPE(rows)
    cdef npy_intp most = GS_FEW_TO_ORDER if cnp.PyArray_ITEMSIZE(rows) < 8 else GS_FEW_TO_ORDER // 2
    if ndim == 0 or not gs_can_rank(type_number) or not LEAST <= cnp.PyArray_DIM(rows, ndim - 1) <= most:
        return None
    rows = take(contiguous(<PyObject *>rows))
    values = fresh_of_sizes(rows, type_number, ndim, cnp.PyArray_DIMS(rows))
    places = fresh_of_sizes(rows, cnp.NPY_INT64, ndim, cnp.PyArray_DIMS(rows))
    job.type, job.descending, job.n = type_number, descending, cnp.PyArray_DIM(rows, ndim - 1)
    job.rows, job.values = cnp.PyArray_BYTES(rows), cnp.PyArray_BYTES(values)
    job.places = <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    parallel(gs_order_short_rows, &job, cnp.PyArray_SIZE(rows) // job.n, 4 * job.n, 1)
    return values, places


def of_rank(rows, npy_intp rank):
    """In each row along the last dimension the element that `rank` others come before, and its place."""
    return found(rows, GS_RANK, rank)


def in_the_middle(rows, bint ignore_nan):
    """In each row the element in the middle, the smaller one of two, and its place; NaN where it has one."""
    return found(rows, GS_MIDDLE_OF_NUMBERS if ignore_nan else GS_MIDDLE, 0)


cdef tuple found(object rows, Ranked wanted, npy_intp rank):
    cdef Ranking ranking
    cdef tuple shape = rows.shape[:rows.ndim - 1]
    if cnp.PyArray_TYPE(rows) == cnp.NPY_FLOAT16:
        values, places = found(take(cast(<PyObject *>rows, cnp.NPY_FLOAT32)), wanted, rank)
        return take(cast(<PyObject *>values, cnp.NPY_FLOAT16)), places
    if not gs_can_rank(cnp.PyArray_TYPE(rows)):
        raise TypeError(f"elements of dtype {rows.dtype} have no rank")
    rows = take(contiguous(<PyObject *>rows))
    values, places = fresh(cnp.PyArray_TYPE(rows), shape), fresh(cnp.NPY_INT64, shape)
    if cnp.PyArray_SIZE(values) == 0:
        return values, places
    ranking.type, ranking.wanted, ranking.rank = cnp.PyArray_TYPE(rows), wanted, rank
    ranking.rows, ranking.n = cnp.PyArray_BYTES(rows), cnp.PyArray_DIM(rows, cnp.PyArray_NDIM(rows) - 1)
    ranking.values, ranking.places = cnp.PyArray_BYTES(values), <cnp.npy_int64 *>cnp.PyArray_DATA(places)
    ranking.is_out_of_memory = 0
    parallel(gs_rank_rows, &ranking, cnp.PyArray_SIZE(values), 8 * ranking.n, 1)
    if ranking.is_out_of_memory:
        raise MemoryError()
    return values, places
