"""Places in sorted sums of weights, and the first of the greatest elements, of many rows at a time."""

cimport numpy as cnp
from libc.math cimport isnan

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double


def categories_at(cnp.ndarray sums not None, cnp.ndarray levels not None):
    """How many of the ascending sums in a row are at most each level in the same row: (n, m) and (n, k) to (n, k)."""
    if sums.ndim != 2 or levels.ndim != 2 or (<object>sums).shape[0] != (<object>levels).shape[0]:
        raise ValueError(f"rows of {(<object>sums).shape} do not go with those of {(<object>levels).shape}")
    cdef cnp.ndarray s = np.ascontiguousarray(sums, np.float64), u = np.ascontiguousarray(levels, np.float64)
    cdef cnp.ndarray found = np.empty((<object>levels).shape, np.int64)
    cdef Py_ssize_t rows = s.shape[0], m = s.shape[1], k = u.shape[1], i, j
    cdef const double *sum_data = <const double *>cnp.PyArray_DATA(s)
    cdef const double *level_data = <const double *>cnp.PyArray_DATA(u)
    cdef cnp.int64_t *out = <cnp.int64_t *>cnp.PyArray_DATA(found)
    with nogil:
        for i in range(rows):
            for j in range(k):
                out[i * k + j] = count_up_to(sum_data + i * m, m, level_data[i * k + j])
    return found


cdef cnp.int64_t count_up_to(const double *sums, Py_ssize_t m, double level) noexcept nogil:
    cdef Py_ssize_t low = 0, high = m, middle
    while low < high:
        middle = low + (high - low) // 2
        if sums[middle] <= level:
            low = middle + 1
        else:
            high = middle
    return low


def first_greatest(cnp.ndarray rows not None, cnp.ndarray ends not None):
    """For each bag and column the number of the first row of the bag with the greatest element, NaN being the greatest.

    `rows` is (n, width), of float32 or float64; bag i ends before row ``ends[i]``. -1 where a bag is empty.
    """
    if rows.ndim != 2 or ends.ndim != 1 or rows.dtype not in (np.float32, np.float64):
        raise ValueError("maxima are those of matrices of float32 or float64")
    cdef cnp.ndarray last = np.ascontiguousarray(ends, np.int64)
    if last.size and (last[0] < 0 or last[-1] > (<object>rows).shape[0] or np.any(np.diff(last) < 0)):
        raise ValueError("ends of bags have to be ascending, and within the rows")
    cdef cnp.ndarray x = np.ascontiguousarray(rows)
    cdef cnp.ndarray found = np.full((last.size, x.shape[1]), -1, np.int64)
    cdef cnp.int64_t *to = <cnp.int64_t *>cnp.PyArray_DATA(found)
    cdef const cnp.int64_t *bags = <const cnp.int64_t *>cnp.PyArray_DATA(last)
    cdef Py_ssize_t count = last.shape[0], width = x.shape[1]
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32:
        with nogil:
            find_greatest[float](<const float *>cnp.PyArray_DATA(x), bags, to, count, width)
    else:
        with nogil:
            find_greatest[double](<const double *>cnp.PyArray_DATA(x), bags, to, count, width)
    return found


cdef void find_greatest(
    const real *x, const cnp.int64_t *ends, cnp.int64_t *to, Py_ssize_t count, Py_ssize_t width
) noexcept nogil:
    cdef Py_ssize_t bag, row = 0, column
    cdef real best
    for bag in range(count):
        if row < ends[bag]:
            for column in range(width):
                to[bag * width + column] = row
        while row < ends[bag]:
            for column in range(width):
                best = x[to[bag * width + column] * width + column]
                if not (x[row * width + column] <= best) and not isnan(best):
                    to[bag * width + column] = row
            row += 1
