"""`numpy.linalg.eigh` and `svd` with larger blocks around LAPACK's divide and conquer.

Small and complex matrices go to NumPy's functions, and all where its library does not offer what the kernel needs. All
are computed in their dtype, as in PyTorch: `numpy.linalg` takes twice the time for float32, which it converts to float64.
"""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport can_decompose
from gradsmith.runtime.arrays.array cimport eigh as decompose_symmetric
from gradsmith.runtime.arrays.array cimport svd as decompose
from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

from gradsmith.runtime.arrays.functions.algebra.factors import own_dtype
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


cdef cnp.ndarray plain(cnp.ndarray a):
    """Contiguous and in native byte order."""
    return np.ascontiguousarray(a, a.dtype.newbyteorder("="))


cdef cnp.ndarray eigenvalues(cnp.ndarray a, cnp.ndarray vectors):
    """Of symmetric matrices that are contiguous; `vectors`, where they are not None, receive eigenvectors."""
    cdef Py_ssize_t n = a.shape[a.ndim - 1], count = cnp.PyArray_SIZE(a) // (n * n)
    cdef cnp.ndarray values = fresh(cnp.PyArray_TYPE(a), np.shape(a)[:a.ndim - 1])
    done = decompose_symmetric(
        cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(values),
        NULL if vectors is None else cnp.PyArray_DATA(vectors), count, n
    )
    if done < count:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values


def eigh(cnp.ndarray a not None):
    """``numpy.linalg.eigh(a)`` of symmetric matrices of finite numbers."""
    if not suits(a):
        return own_dtype.eigh(a)
    a = plain(a)
    vectors = fresh(cnp.PyArray_TYPE(a), np.shape(a))
    return eigenvalues(a, vectors), vectors


def eigvalsh(cnp.ndarray a not None):
    """``numpy.linalg.eigvalsh(a)`` of symmetric matrices of finite numbers."""
    return eigenvalues(plain(a), None) if suits(a) else own_dtype.eigvalsh(a)


cdef cnp.ndarray decomposed(cnp.ndarray a, cnp.ndarray u, cnp.ndarray vh):
    """The singular values of no more columns than rows; `u` and `vh`, where they are not None, receive vectors."""
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1], count = cnp.PyArray_SIZE(a) // (m * n)
    cdef cnp.ndarray values = fresh(cnp.PyArray_TYPE(a), (*np.shape(a)[:a.ndim - 2], n))
    a = plain(a)
    done = decompose(
        cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), NULL if u is None else cnp.PyArray_DATA(u), cnp.PyArray_DATA(values),
        NULL if vh is None else cnp.PyArray_DATA(vh), count, m, n, n if u is None else u.shape[u.ndim - 1]
    )
    if done < count:
        raise np.linalg.LinAlgError("SVD did not converge")
    return values


cdef bint is_tall(cnp.ndarray a) noexcept:
    """Does it pay to reduce it to a triangle first? LAPACK's threshold."""
    return 6 * a.shape[a.ndim - 2] >= 11 * a.shape[a.ndim - 1]


def svd(cnp.ndarray a not None, bint full_matrices):
    """``numpy.linalg.svd(a, full_matrices)`` of finite numbers."""
    if not suits(a):
        return own_dtype.svd(a, full_matrices)
    cdef Py_ssize_t m = a.shape[a.ndim - 2], n = a.shape[a.ndim - 1]
    cdef int type_number = cnp.PyArray_TYPE(a)
    if m < n:
        vectors, values, others = svd(a.swapaxes(-1, -2), full_matrices)
        return np.ascontiguousarray(others.swapaxes(-1, -2)), values, np.ascontiguousarray(vectors.swapaxes(-1, -2))
    batch = np.shape(a)[:a.ndim - 2]
    vh = fresh(type_number, (*batch, n, n))
    if not is_tall(a):
        u = fresh(type_number, (*batch, m, m if full_matrices else n))
        return u, decomposed(a, u, vh), vh
    basis, triangle = qr(plain(a), "complete" if full_matrices else "reduced")
    inner = fresh(type_number, (*batch, n, n))
    values = decomposed(triangle[..., :n, :], inner, vh)
    basis[..., :n] = np.matmul(basis[..., :n], inner)
    return basis, values, vh


def svdvals(cnp.ndarray a not None):
    """``numpy.linalg.svdvals(a)`` of finite numbers."""
    if not suits(a):
        return own_dtype.svdvals(a)
    if a.shape[a.ndim - 2] < a.shape[a.ndim - 1]:
        a = a.swapaxes(-1, -2)
    return decomposed(qr(plain(a), "r")[1] if is_tall(a) else a, None, None)
