"""Triangular factors of positive definite matrices, and their gradients."""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport cholesky, cholesky_slope
from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

cnp.import_array()


cdef cnp.ndarray plain(cnp.ndarray a):
    """Contiguous and in native byte order."""
    native = cnp.PyArray_ISNOTSWAPPED(a)
    return cnp.PyArray_GETCONTIGUOUS(a) if native else np.ascontiguousarray(a, a.dtype.newbyteorder("="))


cdef bint are_squares(cnp.ndarray a) noexcept:
    cdef int ndim = a.ndim
    return (
        ndim > 1 and a.shape[ndim - 1] == a.shape[ndim - 2]
        and cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128)
    )


cdef Py_ssize_t count_of(cnp.ndarray a) noexcept:
    cdef Py_ssize_t count = 1
    for d in range(a.ndim - 2):
        count *= a.shape[d]
    return count


def factor_definite(cnp.ndarray a not None):
    """The factors, and for each the order of the first leading minor that is not positive, or 0; such a factor is NaN.

    Only the lower triangles are read.
    """
    if not are_squares(a):
        raise TypeError(f"factor_definite(): expected square matrices of real or complex numbers, got {a.dtype}")
    a = plain(a)
    cdef cnp.ndarray factors = fresh(cnp.PyArray_TYPE(a), (<object>a).shape)
    cdef cnp.ndarray orders = fresh(cnp.NPY_INT32, (<object>a).shape[:a.ndim - 2])
    if cnp.PyArray_SIZE(a) == 0:
        orders[...] = 0
        return factors, orders
    cholesky(
        cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(factors), <int *>cnp.PyArray_DATA(orders),
        count_of(a), a.shape[a.ndim - 1]
    )
    return factors, orders


def slopes_of_factors(cnp.ndarray factors not None, cnp.ndarray gradients not None):
    """Gradients, Hermitian ones, of the matrices for those of their factors."""
    if not (
        are_squares(factors) and cnp.PyArray_TYPE(gradients) == cnp.PyArray_TYPE(factors)
        and gradients.ndim == factors.ndim and cnp.PyArray_CompareLists(factors.shape, gradients.shape, factors.ndim)
    ):
        raise TypeError("slopes_of_factors(): expected square matrices, and gradients of their dtype and size")
    factors, gradients = plain(factors), plain(gradients)
    cdef cnp.ndarray found = fresh(cnp.PyArray_TYPE(factors), (<object>factors).shape)
    cholesky_slope(
        cnp.PyArray_TYPE(factors), cnp.PyArray_DATA(factors), cnp.PyArray_DATA(gradients), cnp.PyArray_DATA(found),
        count_of(factors), factors.shape[factors.ndim - 1]
    )
    return found
