"""Places drawn by weights, and the first of the greatest elements, of many rows at a time.

See Note [Places of levels] in categories_kernels.c.
"""

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "runtime/arrays/functions/draws/categories_kernels.h" nogil:
    ctypedef enum State "gs_weights_state":
        RIGHT "GS_WEIGHTS_RIGHT"
        INVALID "GS_WEIGHTS_INVALID"
        ZERO "GS_WEIGHTS_ZERO"
    State gs_categories(
        int is_float, const void *weights, cnp.int64_t rows, cnp.int64_t n, double *sums, double *levels,
        cnp.int64_t count, cnp.int64_t *places)
    void gs_first_greatest(
        int is_float, const void *rows, const cnp.int64_t *ends, cnp.int64_t bags, cnp.int64_t width,
        cnp.int64_t *places)


def categories_at(cnp.ndarray weights not None, cnp.ndarray levels not None):
    """Places with the probabilities that weights (n, m) have in their rows, for levels (n, k) from 0 to 1: (n, k).

    A negative weight, one that is not finite, or a row without a positive one is a RuntimeError.
    """
    if weights.ndim != 2 or levels.ndim != 2 or weights.shape[0] != levels.shape[0]:
        raise ValueError(f"rows of {(<object>weights).shape} do not go with those of {(<object>levels).shape}")
    cdef bint is_float = cnp.PyArray_TYPE(weights) == cnp.NPY_FLOAT32
    cdef cnp.ndarray w = np.ascontiguousarray(weights, np.float32 if is_float else np.float64)
    cdef cnp.ndarray u = np.array(levels, np.float64, order="C")
    cdef cnp.ndarray found = np.empty((<object>levels).shape, np.int64), sums = np.empty(weights.shape[1], np.float64)
    cdef cnp.int64_t rows = weights.shape[0], n = weights.shape[1], count = levels.shape[1]
    cdef const void *of_weights = cnp.PyArray_DATA(w)
    cdef double *of_sums = <double *>cnp.PyArray_DATA(sums)
    cdef double *of_levels = <double *>cnp.PyArray_DATA(u)
    cdef cnp.int64_t *places = <cnp.int64_t *>cnp.PyArray_DATA(found)
    cdef State state
    with nogil:
        state = gs_categories(is_float, of_weights, rows, n, of_sums, of_levels, count, places)
    if state == INVALID:
        raise RuntimeError("multinomial(): probability tensor contains either `inf`, `nan` or element < 0")
    if state == ZERO:
        raise RuntimeError("multinomial(): invalid multinomial distribution (sum of probabilities <= 0)")
    return found


def first_greatest(cnp.ndarray rows not None, cnp.ndarray ends not None):
    """For each bag and column the number of the first row of the bag with the greatest element, NaN being the greatest.

    `rows` is (n, width), of float32 or float64; bag i ends before row ``ends[i]``. -1 where a bag is empty.
    """
    if rows.ndim != 2 or ends.ndim != 1 or rows.dtype not in (np.float32, np.float64):
        raise ValueError("maxima are those of matrices of float32 or float64")
    cdef cnp.ndarray last = np.ascontiguousarray(ends, np.int64)
    if last.size and (last[0] < 0 or last[last.size - 1] > rows.shape[0] or np.any(np.diff(last) < 0)):
        raise ValueError("ends of bags have to be ascending, and within the rows")
    cdef bint is_float = cnp.PyArray_TYPE(rows) == cnp.NPY_FLOAT32 and rows.shape[0] < (1 << 31)
    cdef cnp.ndarray x = np.ascontiguousarray(rows, np.float32 if is_float else np.float64)
    cdef cnp.ndarray found = np.empty((last.size, rows.shape[1]), np.int64)
    cdef cnp.int64_t bags = last.shape[0], width = rows.shape[1]
    cdef const void *of_rows = cnp.PyArray_DATA(x)
    cdef const cnp.int64_t *of_ends = <const cnp.int64_t *>cnp.PyArray_DATA(last)
    cdef cnp.int64_t *places = <cnp.int64_t *>cnp.PyArray_DATA(found)
    with nogil:
        gs_first_greatest(is_float, of_rows, of_ends, bags, width, places)
    return found
