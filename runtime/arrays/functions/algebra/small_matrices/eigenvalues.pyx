"""`numpy.linalg.eigh` without a call of LAPACK for each of many small matrices.

Larger matrices go to `factors.spectral`, and complex ones from there to NumPy. As there, float32 is computed in
float64.
"""

cimport numpy as cnp

import numpy as np

from gradsmith.runtime.arrays.functions.algebra.factors import spectral

cnp.import_array()

cdef extern from "runtime/arrays/functions/algebra/small_matrices/eigenvalues_kernels.h":
    enum:
        GS_MOST_ROWS
    Py_ssize_t gs_small_eigh(const double *a, double *values, double *vectors, Py_ssize_t count, int n) nogil


cdef bint is_small(cnp.ndarray a) noexcept:
    cdef int kind = cnp.PyArray_TYPE(a), ndim = a.ndim
    return (
        (kind == cnp.NPY_FLOAT64 or kind == cnp.NPY_FLOAT32)
        and ndim > 1
        and 0 < a.shape[ndim - 1] <= GS_MOST_ROWS
        and a.shape[ndim - 1] == a.shape[ndim - 2]
    )


def eigh(cnp.ndarray a not None):
    """``numpy.linalg.eigh(a)``, of finite numbers."""
    if not is_small(a):
        return spectral.eigh(a)
    cdef cnp.ndarray doubles = np.ascontiguousarray(a, np.float64)
    cdef cnp.ndarray values = cnp.PyArray_EMPTY(a.ndim - 1, a.shape, cnp.NPY_FLOAT64, 0)
    cdef cnp.ndarray vectors = cnp.PyArray_EMPTY(a.ndim, a.shape, cnp.NPY_FLOAT64, 0)
    cdef const double *given = <const double *>cnp.PyArray_DATA(doubles)
    cdef double *first_value = <double *>cnp.PyArray_DATA(values)
    cdef double *first_vector = <double *>cnp.PyArray_DATA(vectors)
    cdef int n = <int>a.shape[a.ndim - 1]
    cdef Py_ssize_t failed, count = cnp.PyArray_SIZE(a) // (n * n)
    with nogil:
        failed = gs_small_eigh(given, first_value, first_vector, count, n)
    if failed >= 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values.astype(a.dtype, copy=False), vectors.astype(a.dtype, copy=False)


def eigvalsh(cnp.ndarray a not None):
    """``numpy.linalg.eigvalsh(a)``, of finite numbers."""
    return eigh(a)[0] if is_small(a) else spectral.eigvalsh(a)
