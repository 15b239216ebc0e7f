"""Triangular systems of equations by substitution."""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport solve_triangular
from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

cnp.import_array()


cdef cnp.ndarray with_one_unit_stride(cnp.ndarray a):
    """The matrices, transposed ones too, one behind the other with the same distance."""
    cdef int ndim = a.ndim
    cdef Py_ssize_t n = a.shape[ndim - 1], size = cnp.PyArray_ITEMSIZE(a), distance = n * n * size, d
    cdef bint fits = cnp.PyArray_ISBEHAVED_RO(a) and (
        (a.strides[ndim - 1] == size and a.strides[ndim - 2] >= n * size)
        or (a.strides[ndim - 2] == size and a.strides[ndim - 1] >= n * size)
    )
    for d in range(ndim - 3, -1, -1):
        fits = fits and a.strides[d] == distance
        distance *= a.shape[d]
    return a if fits else np.ascontiguousarray(a, (<object>a).dtype.newbyteorder("="))


def substitute(cnp.ndarray a not None, cnp.ndarray x not None, bint upper, bint unitriangular):
    """Solutions for right sides `x`, of the dtype and the batch of the matrices `a`, as a new array."""
    cdef int ndim = a.ndim
    if not (
        ndim > 1 and x.ndim == ndim and cnp.PyArray_TYPE(x) == cnp.PyArray_TYPE(a)
        and a.shape[ndim - 1] == a.shape[ndim - 2] == x.shape[ndim - 2]
        and cnp.PyArray_CompareLists(a.shape, x.shape, ndim - 2)
    ):
        raise TypeError("substitute(): expected square matrices, and as many right sides of their dtype")
    cdef Py_ssize_t n = a.shape[ndim - 1], k = x.shape[ndim - 1]
    cdef cnp.ndarray found = fresh(cnp.PyArray_TYPE(x), (<object>x).shape)
    cnp.PyArray_CopyInto(found, x)
    if cnp.PyArray_SIZE(x) == 0:
        return found
    a = with_one_unit_stride(a)
    cdef Py_ssize_t count = cnp.PyArray_SIZE(x) // (n * k), step = n * n * cnp.PyArray_ITEMSIZE(a)
    solve_triangular(
        cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), a.strides[ndim - 2], a.strides[ndim - 1], step, upper, unitriangular,
        cnp.PyArray_DATA(found), count, n, k
    )
    return found
