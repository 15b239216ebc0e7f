"""`numpy.linalg.qr` without a call of LAPACK for each of many small matrices, and with larger blocks.

Complex matrices go to NumPy. As there, float32 is computed in float64.
"""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport QRResults
from gradsmith.runtime.arrays.array cimport qr as decompose
from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

cnp.import_array()


cdef bint suits(cnp.ndarray a) noexcept:
    return a.ndim > 1 and cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) and cnp.PyArray_SIZE(a) > 0


cdef cnp.ndarray fresh_like(cnp.ndarray a, tuple sizes):
    """For results of each matrix of a batch, of double precision."""
    return fresh(cnp.NPY_FLOAT64, (<object>a).shape[:a.ndim - 2] + sizes)


cdef int write(cnp.ndarray a, QRResults *results, Py_ssize_t k) except -1:
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1]
    cdef cnp.ndarray doubles = np.ascontiguousarray(a, np.float64)
    return decompose(
        <const double *>cnp.PyArray_DATA(doubles), results, cnp.PyArray_SIZE(a) // (m * n), m, n, k
    )


cdef object given(cnp.ndarray a, cnp.ndarray result):
    """In the dtype of `a`."""
    return result if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT64 else result.astype(a.dtype)


def qr_parts(cnp.ndarray a not None):
    """``numpy.linalg.qr(a, "raw")``: the transposed factors in one array, and the factors of the reflections."""
    if not suits(a):
        return tuple(np.linalg.qr(a, "raw"))
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1]
    cdef cnp.ndarray parts = fresh_like(a, (n, m)), factors = fresh_like(a, (min(m, n),))
    cdef QRResults results = QRResults(
        NULL, NULL, <double *>cnp.PyArray_DATA(parts), <double *>cnp.PyArray_DATA(factors)
    )
    write(a, &results, 0)
    return given(a, parts), given(a, factors)


def qr(cnp.ndarray a not None, str mode):
    """``numpy.linalg.qr(a, mode)`` of "reduced" or "complete"; with "r", instead of the orthogonal factor, None."""
    if not suits(a):
        return (None, np.linalg.qr(a, "r")) if mode == "r" else tuple(np.linalg.qr(a, mode))
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1], k = m if mode == "complete" else min(m, n)
    cdef cnp.ndarray triangle = fresh_like(a, (k, n)), basis = None
    cdef QRResults results = QRResults(NULL, <double *>cnp.PyArray_DATA(triangle), NULL, NULL)
    if mode != "r":
        basis = fresh_like(a, (m, k))
        results.basis = <double *>cnp.PyArray_DATA(basis)
    write(a, &results, k)
    return None if basis is None else given(a, basis), given(a, triangle)
