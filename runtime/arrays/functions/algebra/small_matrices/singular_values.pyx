"""`numpy.linalg.svd` without a call of LAPACK for each of many small matrices.

Larger matrices go to `factors.spectral`, and complex ones from there to NumPy. As there, float32 is computed in
float64.
"""

cimport numpy as cnp

import numpy as np

from gradsmith.runtime.arrays.functions.algebra.factors import spectral

cnp.import_array()

cdef extern from "runtime/arrays/functions/algebra/small_matrices/singular_values_kernels.h":
    enum:
        GS_MOST_ROWS
    Py_ssize_t gs_small_svd(
        const double *a, double *u, double *values, double *vh, Py_ssize_t count, int rows, int columns, int left,
        int right,
    ) nogil


# Beside the largest value, one of a matrix that has a smaller rank, except for rounding.
cdef double NOTHING = 1e-13


cdef bint is_small(cnp.ndarray a) noexcept:
    cdef int kind = cnp.PyArray_TYPE(a), ndim = a.ndim
    return (
        (kind == cnp.NPY_FLOAT64 or kind == cnp.NPY_FLOAT32)
        and ndim > 1
        and 0 < a.shape[ndim - 1] <= GS_MOST_ROWS
        and 0 < a.shape[ndim - 2] <= GS_MOST_ROWS
    )


cdef cnp.ndarray filled(cnp.ndarray a, cnp.ndarray u, cnp.ndarray vh, int left, int right):
    """The singular values; `u` and `vh`, where they are not None, receive so many vectors of each matrix."""
    cdef cnp.ndarray doubles = np.ascontiguousarray(a, np.float64)
    cdef int rows = <int>a.shape[a.ndim - 2], columns = <int>a.shape[a.ndim - 1]
    cdef cnp.ndarray values = np.empty(np.shape(a)[:a.ndim - 2] + (min(rows, columns),))
    cdef double *of_u = NULL if u is None else <double *>cnp.PyArray_DATA(u)
    cdef double *of_vh = NULL if vh is None else <double *>cnp.PyArray_DATA(vh)
    cdef double *of_values = <double *>cnp.PyArray_DATA(values)
    cdef const double *given = <const double *>cnp.PyArray_DATA(doubles)
    cdef Py_ssize_t failed, count = cnp.PyArray_SIZE(a) // (rows * columns)
    with nogil:
        failed = gs_small_svd(given, of_u, of_values, of_vh, count, rows, columns, left, right)
    if failed >= 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    return values


cdef int replace_arbitrary(object a, object u, object values, object vh, bint full_matrices) except -1:
    """Singular vectors of values that are zero are any that fit; rounding decides. Those that NumPy finds are taken."""
    singular = values[..., -1] <= NOTHING * values[..., 0]
    if singular.any():
        u[singular], values[singular], vh[singular] = np.linalg.svd(a[singular].astype(np.float64), full_matrices)
    return 0


def svd(cnp.ndarray a not None, bint full_matrices):
    """``numpy.linalg.svd(a, full_matrices)``, of finite numbers."""
    if not is_small(a):
        return spectral.svd(a, full_matrices)
    cdef int rows = <int>a.shape[a.ndim - 2], columns = <int>a.shape[a.ndim - 1]
    cdef int left = rows if full_matrices else min(rows, columns), right = columns if full_matrices else min(rows, columns)
    batch = np.shape(a)[:a.ndim - 2]
    u, vh = np.empty(batch + (rows, left)), np.empty(batch + (right, columns))
    values = filled(a, u, vh, left, right)
    replace_arbitrary(a, u, values, vh, full_matrices)
    return u.astype(a.dtype, copy=False), values.astype(a.dtype, copy=False), vh.astype(a.dtype, copy=False)


def svdvals(cnp.ndarray a not None):
    """``numpy.linalg.svdvals(a)``, of finite numbers."""
    return filled(a, None, None, 0, 0).astype(a.dtype, copy=False) if is_small(a) else spectral.svdvals(a)
