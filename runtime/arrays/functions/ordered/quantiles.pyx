"""Where quantiles lie in rows in ascending order, of float32 and float64."""

from cpython.ref cimport PyObject
from libc.math cimport ceil, floor, rint
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport contiguous
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_of_sizes, take

cnp.import_array()

ctypedef fused real:
    float
    double

cdef struct Job:
    npy_intp n_rows, length, n_shares
    Mode mode
    bint ignore_nan

cdef dict MODES = {"linear": LINEAR, "lower": LOWER, "higher": HIGHER, "midpoint": MIDPOINT, "nearest": NEAREST}


cdef bint are_shares(object q) except -1:
    """Are all numbers between 0 and 1?"""
    q = take(contiguous(<PyObject *>q))
    cdef npy_intp i
    cdef bint is_float = cnp.PyArray_TYPE(q) == cnp.NPY_FLOAT32
    cdef void *numbers = cnp.PyArray_DATA(q)
    for i in range(cnp.PyArray_SIZE(q)):
        if not 0 <= ((<float *>numbers)[i] if is_float else (<double *>numbers)[i]) <= 1:
            return False
    return True


cdef tuple neighbours_of_quantiles(object rows, object q, str interpolation, bint ignore_nan):
    """Of each row along the last dimension, in which NaN comes last, the elements around each of the quantiles `q`.

    Gives those below, those above and how far the quantiles lie between them. Where one element is taken alone, that is
    the one below, and the others are None.
    """
    cdef Job job
    cdef int ndim = cnp.PyArray_NDIM(rows)
    cdef npy_intp sizes[MAX_DIMS]
    memcpy(sizes, cnp.PyArray_DIMS(rows), ndim * sizeof(npy_intp))
    sizes[ndim - 1] = cnp.PyArray_SIZE(q)
    rows, q = take(contiguous(<PyObject *>rows)), take(contiguous(<PyObject *>q))
    job.length, job.n_shares = cnp.PyArray_DIM(rows, ndim - 1), sizes[ndim - 1]
    job.n_rows = cnp.PyArray_SIZE(rows) // job.length
    job.mode, job.ignore_nan = MODES[interpolation], ignore_nan
    cdef bint is_between = job.mode == LINEAR or job.mode == MIDPOINT
    low, high, weight = [
        fresh_of_sizes(rows, cnp.PyArray_TYPE(rows), ndim, sizes) if is_needed else None
        for is_needed in (True, is_between, is_between)
    ]
    if cnp.PyArray_TYPE(rows) == cnp.NPY_FLOAT32:
        fill(
            &job, <float *>data(rows), <float *>data(q), <float *>data(low), <float *>data(high), <float *>data(weight)
        )
    else:
        fill(
            &job, <double *>data(rows), <double *>data(q), <double *>data(low), <double *>data(high), <double *>data(weight)
        )
    return low, high, weight


cdef void *data(object array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(<cnp.ndarray>array)


cdef void fill(
    const Job *job, const real *row, const real *shares, real *low, real *high, real *weight
) noexcept:
    cdef npy_intp r, i, count, place = 0
    cdef real rank, below
    for r in range(job.n_rows):
        count = numbers_in(row, job.length)
        for i in range(job.n_shares):
            if job.ignore_nan:
                rank = shares[i] * <real>(max(count, 1) - 1)
            else:       # NaN is taken for all quantiles of its row
                rank = <real>(job.length - 1) if count < job.length else shares[i] * <real>(job.length - 1)
            below = rint(rank) if job.mode == NEAREST else ceil(rank) if job.mode == HIGHER else floor(rank)
            low[place] = element(row, job.length, below)
            if high != NULL:
                high[place] = element(row, job.length, ceil(rank))
                weight[place] = rank - below if job.mode == LINEAR else <real>0.5
            place += 1
        row += job.length


cdef inline npy_intp numbers_in(const real *row, npy_intp length) noexcept nogil:
    while length and row[length - 1] != row[length - 1]:
        length -= 1
    return length


cdef inline real element(const real *row, npy_intp length, double place) noexcept nogil:
    return row[min(<npy_intp>place, length - 1)]
