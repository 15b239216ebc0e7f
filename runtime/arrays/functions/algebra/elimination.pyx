"""Gaussian elimination with row exchanges, one matrix of a batch after the other."""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs

import numpy as np

cnp.import_array()

ctypedef fused number:
    float
    double
    float complex
    double complex


cdef inline double magnitude(number x) noexcept nogil:
    """LAPACK's: of a complex number the sum of the magnitudes of its parts."""
    if number is cython.floatcomplex or number is cython.doublecomplex:
        return fabs(x.real) + fabs(x.imag)
    else:
        return fabs(x)


@cython.cdivision(True)
cdef void eliminate_one(number *a, cnp.int32_t *pivots, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """Replace a matrix by its factors; a column of zeros stays as it is."""
    cdef Py_ssize_t step, row, column, best
    cdef number factor, kept
    for step in range(min(m, n)):
        best = step
        for row in range(step + 1, m):
            if magnitude(a[row * n + step]) > magnitude(a[best * n + step]):
                best = row
        pivots[step] = <cnp.int32_t>(best + 1)
        if best != step:
            for column in range(n):
                kept = a[step * n + column]
                a[step * n + column] = a[best * n + column]
                a[best * n + column] = kept
        if a[step * n + step] == 0:
            continue
        for row in range(step + 1, m):
            factor = a[row * n + step] / a[step * n + step]
            a[row * n + step] = factor
            for column in range(step + 1, n):
                a[row * n + column] = a[row * n + column] - factor * a[step * n + column]


cdef void eliminate_all(number *a, cnp.int32_t *pivots, Py_ssize_t count, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        eliminate_one(a + i * m * n, pivots + i * min(m, n), m, n)


def eliminate(cnp.ndarray a not None):
    """Both factors of each matrix in one array, and the rows, counted from 1, that were exchanged with each row."""
    cdef int ndim = a.ndim, kind = cnp.PyArray_TYPE(a)
    if ndim < 2 or kind not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128):
        raise TypeError(f"eliminate(): expected matrices of real or complex numbers, got {a.dtype} of {a.ndim} dimensions")
    cdef Py_ssize_t m = a.shape[ndim - 2], n = a.shape[ndim - 1]
    cdef Py_ssize_t count = 0 if m == 0 or n == 0 else cnp.PyArray_SIZE(a) // (m * n)
    a = np.array(a, (<object>a).dtype.newbyteorder("="), order="C")
    shape = (<object>a).shape
    cdef cnp.ndarray pivots = np.empty((*shape[:ndim - 2], min(m, n)), np.int32)
    cdef void *factors = cnp.PyArray_DATA(a)
    cdef cnp.int32_t *rows = <cnp.int32_t *>cnp.PyArray_DATA(pivots)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            eliminate_all[float](<float *>factors, rows, count, m, n)
        elif kind == cnp.NPY_FLOAT64:
            eliminate_all[double](<double *>factors, rows, count, m, n)
        elif kind == cnp.NPY_COMPLEX64:
            eliminate_all[cython.floatcomplex](<cython.floatcomplex *>factors, rows, count, m, n)
        else:
            eliminate_all[cython.doublecomplex](<cython.doublecomplex *>factors, rows, count, m, n)
    return a, pivots


def exchanged_rows(cnp.ndarray pivots not None, Py_ssize_t m):
    """Which of `m` rows is where after the exchanges, which have to be in range."""
    cdef cnp.ndarray swaps = np.ascontiguousarray(pivots, np.int32)
    cdef Py_ssize_t steps = swaps.shape[swaps.ndim - 1]
    numbers = <object>swaps
    if pivots.ndim == 0 or steps > m or (numbers.size and not (0 < numbers.min() and numbers.max() <= m)):
        raise RuntimeError(f"the row exchanges should be vectors of at most {m} numbers from 1 to {m}")
    cdef cnp.ndarray rows = np.empty((*(<object>pivots).shape[:pivots.ndim - 1], m), np.intp)
    rows[...] = np.arange(m)
    cdef Py_ssize_t count = 0 if m == 0 else cnp.PyArray_SIZE(rows) // m
    cdef cnp.npy_intp *places = <cnp.npy_intp *>cnp.PyArray_DATA(rows)
    cdef const cnp.int32_t *others = <const cnp.int32_t *>cnp.PyArray_DATA(swaps)
    cdef Py_ssize_t i, step, other
    cdef cnp.npy_intp kept
    with nogil:
        for i in range(count):
            for step in range(steps):
                other = others[i * steps + step] - 1
                kept = places[i * m + step]
                places[i * m + step] = places[i * m + other]
                places[i * m + other] = kept
    return rows
