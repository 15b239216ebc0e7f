"""Triangular systems of equations by substitution, one matrix of a batch after the other."""

cimport cython
cimport numpy as cnp

import numpy as np

cnp.import_array()

ctypedef fused number:
    float
    double
    float complex
    double complex


@cython.cdivision(True)
cdef void substitute_one(
    const number *a, number *x, Py_ssize_t n, Py_ssize_t k, bint upper, bint unitriangular
) noexcept nogil:
    """Replace the right sides `x`, `k` columns, by the solutions."""
    cdef Py_ssize_t step, row, solved, other, column
    cdef number factor
    for step in range(n):
        row = n - 1 - step if upper else step
        for solved in range(step):
            other = n - 1 - solved if upper else solved
            factor = a[row * n + other]
            for column in range(k):
                x[row * k + column] = x[row * k + column] - factor * x[other * k + column]
        if not unitriangular:
            factor = a[row * n + row]
            for column in range(k):
                x[row * k + column] = x[row * k + column] / factor


cdef void substitute_all(
    const number *a, number *x, Py_ssize_t count, Py_ssize_t n, Py_ssize_t k, bint upper, bint unitriangular
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        substitute_one(a + i * n * n, x + i * n * k, n, k, upper, unitriangular)


def substitute(cnp.ndarray a not None, cnp.ndarray x not None, bint upper, bint unitriangular):
    """Solutions for right sides `x`, of the dtype and the batch of the matrices `a`, as a new array."""
    cdef int ndim = a.ndim, kind = cnp.PyArray_TYPE(a)
    cdef Py_ssize_t n = a.shape[ndim - 1], k = x.shape[ndim - 1]
    cdef Py_ssize_t count = 1 if n == 0 or k == 0 else cnp.PyArray_SIZE(x) // (n * k)
    a, x = np.ascontiguousarray(a), np.array(x, order="C")
    cdef void *left = cnp.PyArray_DATA(a)
    cdef void *right = cnp.PyArray_DATA(x)
    with nogil:
        if kind == cnp.NPY_FLOAT32:
            substitute_all[float](<float *>left, <float *>right, count, n, k, upper, unitriangular)
        elif kind == cnp.NPY_FLOAT64:
            substitute_all[double](<double *>left, <double *>right, count, n, k, upper, unitriangular)
        elif kind == cnp.NPY_COMPLEX64:
            substitute_all[cython.floatcomplex](
                <cython.floatcomplex *>left, <cython.floatcomplex *>right, count, n, k, upper, unitriangular
            )
        else:
            substitute_all[cython.doublecomplex](
                <cython.doublecomplex *>left, <cython.doublecomplex *>right, count, n, k, upper, unitriangular
            )
    return x
