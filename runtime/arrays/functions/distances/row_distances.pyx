"""Distances between the rows of matrices, and their gradients; see Note [Distances between rows] in the kernels."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, contiguous, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport fresh_beside, take

import numpy as np

from gradsmith.runtime.arrays.array import parallel_loop
from gradsmith.runtime.arrays.functions.shapes import broadcast_shape

cnp.import_array()

cdef extern from "runtime/arrays/functions/distances/row_distances_kernels.h":
    ctypedef enum Norm "gs_norm":
        GS_GREATEST, GS_TAXICAB, GS_EUCLIDEAN
    ctypedef struct Distances "gs_distances":
        int type
        Norm norm
        npy_intp n_batches, n_rows, n_others, width
        char *rows
        char *others
        char *weights
        char *norms
        npy_intp to_row, to_other
        char *to
    bint gs_begin_distances(Distances *d) noexcept nogil
    void gs_end_distances(Distances *d) noexcept nogil
    npy_intp gs_distance_pieces(const Distances *d) noexcept nogil
    void gs_run_distances(void *d, npy_intp first, npy_intp last) noexcept nogil

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")

cdef enum:
    ROWS_OF_PIECE = 32
    TERMS_OF_STEP = 8           # what a vector computes in the time of an addition


cpdef object row_distances_of(object rows, object others, object p):
    """(..., n, m) of (..., n, k) and (..., m, k): in the norm 1, 2 or infinity."""
    cdef Distances d
    check(rows, others, p)
    batch = broadcast_batch((rows, others))
    found = fresh_for((rows, others), (*batch, count_of_rows(rows), count_of_rows(others)))
    if is_meta(<PyObject *>found) or cnp.PyArray_SIZE(found) == 0:
        return found
    rows, others = by_rows(rows, batch), by_rows(others, batch)
    describe(&d, rows, others, p)
    d.weights = d.norms = NULL
    return run(&d, found)


cpdef object weighted_row_steps_of(object weights, object rows, object others, object p):
    """(..., n, k): for each row, the sum of steps from the others times weights (..., n, m)."""
    cdef Distances d
    check(rows, others, p)
    check_weights(weights, rows, others)
    batch = broadcast_batch((weights, rows, others))
    found = fresh_for((rows, weights, others), (*batch, *rows.shape[rows.ndim - 2:]))
    if is_meta(<PyObject *>found) or cnp.PyArray_SIZE(found) == 0:
        return found
    rows, others = by_rows(rows, batch), by_rows(others, batch)
    describe(&d, rows, others, p)
    weights = in_batch(in_dtype_of(rows, weights), batch)
    cdef bint by_columns = lies_by_columns(weights)
    d.to_row, d.to_other = 1 if by_columns else d.n_others, d.n_rows if by_columns else 1
    weights = weights.mT if by_columns else weights
    weights = take(contiguous(<PyObject *>weights))
    d.weights, d.norms = <char *>cnp.PyArray_DATA(weights), NULL
    if d.norm == GS_GREATEST:
        norms = row_distances_of(others, rows, p) if by_columns else row_distances_of(rows, others, p)
        d.norms = <char *>cnp.PyArray_DATA(norms)
    return run(&d, found)


cdef bint lies_by_columns(object a):
    """Is it the transpose of what lies by rows? Then it needs no copy."""
    return not cnp.PyArray_IS_C_CONTIGUOUS(a) and a.mT.flags.c_contiguous


cdef npy_intp count_of_rows(object a):
    return cnp.PyArray_DIM(a, cnp.PyArray_NDIM(a) - 2)


cdef int check(object rows, object others, object p) except -1:
    if min(rows.ndim, others.ndim) < 2 or rows.dtype != others.dtype or rows.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "distances are those of rows of matrices of one dtype, float32 or float64, but got "
            f"{rows.dtype} of size {list(rows.shape)} and {others.dtype} of size {list(others.shape)}"
        )
    columns, others_columns = rows.shape[-1 + rows.ndim], others.shape[-1 + others.ndim]
    if columns != others_columns or columns == 0:
        raise RuntimeError(f"rows of {columns} and of {others_columns} columns have no distances")
    if p not in (1, 2, float("inf")):
        raise RuntimeError(f"there is no loop for distances in the norm of p = {p}")
    return 0


cdef int check_weights(object weights, object rows, object others) except -1:
    expected = (count_of_rows(rows), count_of_rows(others))
    if weights.dtype.kind != "f" or weights.shape[weights.ndim - 2:] != expected:
        raise RuntimeError(
            f"weights of {expected[0]} and {expected[1]} rows are floating point numbers of a size that ends with "
            f"{list(expected)}, but got {weights.dtype} of size {list(weights.shape)}"
        )
    return 0


cdef tuple broadcast_batch(tuple arrays):
    """The dimensions before the last two."""
    cdef list given = [a.shape[:a.ndim - 2] for a in arrays]
    return given[0] if given.count(given[0]) == len(given) else broadcast_shape(*given)


cdef object fresh_for(tuple arrays, tuple shape):
    model = next((a for a in arrays if is_meta(<PyObject *>a)), arrays[0])
    return fresh_beside(model, cnp.PyArray_TYPE(model), shape)


cdef object by_rows(object a, tuple batch):
    a = in_batch(a, batch)
    return take(contiguous(<PyObject *>a))


cdef object in_dtype_of(object model, object a):
    return take(cast(<PyObject *>a, cnp.PyArray_TYPE(model)))


cdef object in_batch(object a, tuple batch):
    return a if a.shape[:a.ndim - 2] == batch else np.broadcast_to(a, (*batch, *a.shape[a.ndim - 2:]))


cdef int describe(Distances *d, object rows, object others, object p) except -1:
    """Matrices that lie by rows, of one batch."""
    cdef int ndim = cnp.PyArray_NDIM(rows)
    d.n_rows, d.n_others = cnp.PyArray_DIM(rows, ndim - 2), cnp.PyArray_DIM(others, ndim - 2)
    d.width = cnp.PyArray_DIM(rows, ndim - 1)
    d.n_batches = cnp.PyArray_SIZE(rows) // (d.n_rows * d.width)
    d.type = cnp.PyArray_TYPE(rows)
    d.norm = GS_GREATEST if p == float("inf") else GS_TAXICAB if p == 1 else GS_EUCLIDEAN
    d.rows, d.others = <char *>cnp.PyArray_DATA(rows), <char *>cnp.PyArray_DATA(others)
    return 0


cdef object run(Distances *d, object found):
    cdef npy_intp cost = ROWS_OF_PIECE * d.n_others * d.width // TERMS_OF_STEP
    d.to = <char *>cnp.PyArray_DATA(found)
    if not gs_begin_distances(d):
        raise MemoryError("cdist(): there is no memory for the rows")
    parallel(gs_run_distances, d, gs_distance_pieces(d), cost, 1)
    gs_end_distances(d)
    return found
