"""`numpy.linalg.eigh` and `svd` with larger blocks around LAPACK's divide and conquer.

Small and complex matrices go to NumPy, and all where its library does not offer what the kernel needs. As there,
float32 is computed in float64.
"""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport can_decompose
from gradsmith.runtime.arrays.array cimport eigh as decompose_symmetric
from gradsmith.runtime.arrays.array cimport svd as decompose
from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

from gradsmith.runtime.arrays.functions.algebra.factors.orthogonal import qr

cnp.import_array()

cdef enum:
    LEAST_ROWS = 32  # and columns, from which on it pays


cdef bint suits(cnp.ndarray a) noexcept:
    return (
        a.ndim > 1
        and cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64)
        and a.shape[a.ndim - 1] >= LEAST_ROWS
        and a.shape[a.ndim - 2] >= LEAST_ROWS
        and cnp.PyArray_SIZE(a) > 0
        and can_decompose()
    )


def eigh(cnp.ndarray a not None):
    """``numpy.linalg.eigh(a)`` of symmetric matrices of finite numbers."""
    cdef Py_ssize_t count, n = a.shape[a.ndim - 1]
    if not suits(a):
        return tuple(np.linalg.eigh(a))
    count = cnp.PyArray_SIZE(a) // (n * n)
    cdef cnp.ndarray doubles = np.ascontiguousarray(a, np.float64)
    cdef cnp.ndarray values = fresh(cnp.NPY_FLOAT64, np.shape(a)[:a.ndim - 1])
    cdef cnp.ndarray vectors = fresh(cnp.NPY_FLOAT64, np.shape(a))
    done = decompose_symmetric(
        <const double *>cnp.PyArray_DATA(doubles), <double *>cnp.PyArray_DATA(values),
        <double *>cnp.PyArray_DATA(vectors), count, n
    )
    if done < count:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values.astype(a.dtype, copy=False), vectors.astype(a.dtype, copy=False)


cdef cnp.ndarray decomposed(cnp.ndarray a, cnp.ndarray u, cnp.ndarray vh):
    """The singular values of no more columns than rows; `u` and `vh`, where they are not None, receive vectors."""
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1], count = cnp.PyArray_SIZE(a) // (m * n)
    cdef cnp.ndarray doubles = np.ascontiguousarray(a, np.float64)
    cdef cnp.ndarray values = fresh(cnp.NPY_FLOAT64, (*np.shape(a)[:a.ndim - 2], n))
    done = decompose(
        <const double *>cnp.PyArray_DATA(doubles), NULL if u is None else <double *>cnp.PyArray_DATA(u),
        <double *>cnp.PyArray_DATA(values), NULL if vh is None else <double *>cnp.PyArray_DATA(vh),
        count, m, n, n if u is None else u.shape[u.ndim - 1]
    )
    if done < count:
        raise np.linalg.LinAlgError("SVD did not converge")
    return values


cdef bint is_tall(cnp.ndarray a) noexcept:
    """Does it pay to reduce it to a triangle first? LAPACK's threshold."""
    return 6 * a.shape[a.ndim - 2] >= 11 * a.shape[a.ndim - 1]


cdef tuple with_vectors(cnp.ndarray a, bint full_matrices):
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1]
    if m < n:
        vectors, values, others = with_vectors(a.swapaxes(-1, -2), full_matrices)
        return np.ascontiguousarray(others.swapaxes(-1, -2)), values, np.ascontiguousarray(vectors.swapaxes(-1, -2))
    batch = np.shape(a)[:a.ndim - 2]
    vh = fresh(cnp.NPY_FLOAT64, (*batch, n, n))
    if not is_tall(a):
        u = fresh(cnp.NPY_FLOAT64, (*batch, m, m if full_matrices else n))
        return u, decomposed(a, u, vh), vh
    basis, triangle = qr(a.astype(np.float64, copy=False), "complete" if full_matrices else "reduced")
    inner = fresh(cnp.NPY_FLOAT64, (*batch, n, n))
    values = decomposed(triangle[..., :n, :], inner, vh)
    basis[..., :n] = np.matmul(basis[..., :n], inner)
    return basis, values, vh


def svd(cnp.ndarray a not None, bint full_matrices):
    """``numpy.linalg.svd(a, full_matrices)`` of finite numbers."""
    if not suits(a):
        return tuple(np.linalg.svd(a, full_matrices))
    u, values, vh = with_vectors(a, full_matrices)
    return u.astype(a.dtype, copy=False), values.astype(a.dtype, copy=False), vh.astype(a.dtype, copy=False)


def svdvals(cnp.ndarray a not None):
    """``numpy.linalg.svdvals(a)`` of finite numbers."""
    if not suits(a):
        return np.linalg.svdvals(a)
    tall = a.astype(np.float64, copy=False)
    if a.shape[a.ndim - 2] < a.shape[a.ndim - 1]:
        tall = tall.swapaxes(-1, -2)
    if is_tall(tall):
        tall = qr(tall, "r")[1]
    return decomposed(tall, None, None).astype(a.dtype, copy=False)
