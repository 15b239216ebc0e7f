"""`numpy.linalg.qr` without a call of LAPACK for each of many small matrices, and with larger blocks.

Complex matrices go to NumPy. Small matrices of float32 are computed in float64, as there.
"""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport QRResults
from gradsmith.runtime.arrays.array cimport qr as decompose
from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

cnp.import_array()

cdef enum:
    LEAST_ROWS = 32  # and columns, from which on float32 is computed as such


cdef bint suits(cnp.ndarray a) noexcept:
    return a.ndim > 1 and cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) and cnp.PyArray_SIZE(a) > 0


cdef cnp.ndarray as_computed(cnp.ndarray a):
    cdef bint is_small = min(a.shape[a.ndim - 2], a.shape[a.ndim - 1]) < LEAST_ROWS
    return np.ascontiguousarray(a, np.float64 if is_small else a.dtype.newbyteorder("="))


cdef cnp.ndarray fresh_like(cnp.ndarray a, tuple sizes):
    """For results of each matrix of a batch."""
    return fresh(cnp.PyArray_TYPE(a), (<object>a).shape[:a.ndim - 2] + sizes)


cdef int write(cnp.ndarray a, QRResults *results, Py_ssize_t k) except -1:
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1]
    return decompose(
        cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), results, cnp.PyArray_SIZE(a) // (m * n), m, n, k
    )


def qr_parts(cnp.ndarray a not None):
    """``numpy.linalg.qr(a, "raw")``: the transposed factors in one array, and the factors of the reflections."""
    if not suits(a):
        return tuple(np.linalg.qr(a, "raw"))
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1]
    cdef cnp.ndarray numbers = as_computed(a)
    cdef cnp.ndarray parts = fresh_like(numbers, (n, m)), factors = fresh_like(numbers, (min(m, n),))
    cdef QRResults results = QRResults(NULL, NULL, cnp.PyArray_DATA(parts), cnp.PyArray_DATA(factors))
    write(numbers, &results, 0)
    return parts.astype(a.dtype, copy=False), factors.astype(a.dtype, copy=False)


def qr(cnp.ndarray a not None, str mode):
    """``numpy.linalg.qr(a, mode)`` of "reduced" or "complete"; with "r", instead of the orthogonal factor, None."""
    if not suits(a):
        return (None, np.linalg.qr(a, "r")) if mode == "r" else tuple(np.linalg.qr(a, mode))
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1], k = m if mode == "complete" else min(m, n)
    cdef cnp.ndarray numbers = as_computed(a)
    cdef cnp.ndarray triangle = fresh_like(numbers, (k, n)), basis = None
    cdef QRResults results = QRResults(NULL, cnp.PyArray_DATA(triangle), NULL, NULL)
    if mode != "r":
        basis = fresh_like(numbers, (m, k))
        results.basis = cnp.PyArray_DATA(basis)
    write(numbers, &results, k)
    return None if basis is None else basis.astype(a.dtype, copy=False), triangle.astype(a.dtype, copy=False)
