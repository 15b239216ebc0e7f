"""Functions of `numpy.linalg` that do not call LAPACK for each of many small matrices.

Matrices that are too large, and those of other dtypes than float32 and float64, go to NumPy.
"""

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "runtime/arrays/functions/algebra/small_matrices/elimination_kernels.h":
    enum:
        GS_MOST_ROWS
        GS_MOST_RIGHT
    Py_ssize_t gs_small_solve(
        bint is_double, const void *a, const void *b, void *x, Py_ssize_t count, int n, int m) nogil
    void gs_small_lu(
        bint is_double, const void *a, void *factors, cnp.int32_t *pivots, Py_ssize_t count, int n) nogil
    void gs_small_det(bint is_double, const void *a, void *det, Py_ssize_t count, int n) nogil
    void gs_small_adjugate(
        bint is_double, const void *a, void *adjugate, unsigned char *is_sound, Py_ssize_t count, int n) nogil
    void gs_small_inverse(
        bint is_double, const void *a, void *inverse, unsigned char *is_sound, Py_ssize_t count, int n) nogil
    void gs_small_slogdet(bint is_double, const void *a, void *sign, void *logarithm, Py_ssize_t count, int n) nogil
    Py_ssize_t gs_small_cholesky(bint is_double, const void *a, void *factor, Py_ssize_t count, int n) nogil
    void gs_symmetric(bint is_double, const void *a, void *out, Py_ssize_t count, Py_ssize_t n, bint lower) nogil
    void gs_mean_with_transpose(bint is_double, const void *a, void *out, Py_ssize_t count, Py_ssize_t n) nogil


cdef enum:
    MOST_ROWS_ALONE = 5


cdef bint is_small(cnp.ndarray a) noexcept:
    """So that working on many side by side pays: a single matrix fills only one lane."""
    cdef int kind = cnp.PyArray_TYPE(a), ndim = cnp.PyArray_NDIM(a)
    cdef cnp.npy_intp rows = cnp.PyArray_DIM(a, ndim - 1) if ndim > 1 else 0
    return (
        (kind == cnp.NPY_FLOAT64 or kind == cnp.NPY_FLOAT32)
        and 0 < rows <= GS_MOST_ROWS
        and rows == cnp.PyArray_DIM(a, ndim - 2)
        and (rows <= MOST_ROWS_ALONE or cnp.PyArray_SIZE(a) > 2 * rows * rows)
        and cnp.PyArray_ISNOTSWAPPED(a)
    )


def is_small_batch(cnp.ndarray a not None):
    """Are these matrices that the functions of this module do not give to NumPy?"""
    return is_small(a)


cdef bint is_double(cnp.ndarray a) noexcept:
    return cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT64


cdef cnp.ndarray without(cnp.ndarray a, int dims):
    """An array for one result of each matrix, with `dims` dimensions less."""
    return cnp.PyArray_EMPTY(cnp.PyArray_NDIM(a) - dims, cnp.PyArray_DIMS(a), cnp.PyArray_TYPE(a), 0)


cdef object solved(cnp.ndarray a, cnp.ndarray b, int m):
    """Solutions for the `m` columns of `b`, or inverses."""
    cdef int n = a.shape[a.ndim - 1]
    a = cnp.PyArray_GETCONTIGUOUS(a)
    b = None if b is None else cnp.PyArray_GETCONTIGUOUS(b)
    cdef cnp.ndarray x = np.empty_like(a if b is None else b)
    cdef const void *right = NULL if b is None else cnp.PyArray_DATA(b)
    cdef Py_ssize_t failed, count = cnp.PyArray_SIZE(a) // (n * n)
    cdef bint doubles = is_double(a)
    with nogil:
        failed = gs_small_solve(doubles, cnp.PyArray_DATA(a), right, cnp.PyArray_DATA(x), count, n, m)
    if failed >= 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return x


cdef bint are_small(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Does `b` have the dtype and the batch of `a`, and few columns?"""
    cdef int ndim = a.ndim
    return (
        is_small(a)
        and b.ndim == ndim
        and 0 < b.shape[ndim - 1] <= GS_MOST_RIGHT
        and cnp.PyArray_TYPE(b) == cnp.PyArray_TYPE(a)
        and cnp.PyArray_ISNOTSWAPPED(b)
        and cnp.PyArray_CompareLists(a.shape, b.shape, ndim - 1)
    )


def inv(cnp.ndarray a not None):
    """``numpy.linalg.inv(a)``."""
    return solved(a, None, <int>a.shape[a.ndim - 1]) if is_small(a) else np.linalg.inv(a)


def solve(cnp.ndarray a not None, cnp.ndarray b not None):
    """``numpy.linalg.solve(a, b)``."""
    return solved(a, b, <int>b.shape[b.ndim - 1]) if are_small(a, b) else np.linalg.solve(a, b)


def lu(cnp.ndarray a not None):
    """What `eliminate` gives for small matrices."""
    if not is_small(a):
        raise TypeError(f"lu(): expected small matrices of float32 or float64, got {a.dtype}, {(<object>a).shape}")
    a = cnp.PyArray_GETCONTIGUOUS(a)
    cdef cnp.ndarray factors = np.empty_like(a)
    cdef cnp.ndarray pivots = cnp.PyArray_EMPTY(a.ndim - 1, a.shape, cnp.NPY_INT32, 0)
    cdef int n = a.shape[a.ndim - 1]
    gs_small_lu(
        is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(factors), <cnp.int32_t *>cnp.PyArray_DATA(pivots),
        cnp.PyArray_SIZE(a) // (n * n), n
    )
    return factors, pivots


def det(cnp.ndarray a not None):
    """``numpy.linalg.det(a)``, an array also where it is one number."""
    if not is_small(a):
        return np.asarray(np.linalg.det(a))
    a = cnp.PyArray_GETCONTIGUOUS(a)
    cdef cnp.ndarray found = without(a, 2)
    gs_small_det(
        is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(found), cnp.PyArray_SIZE(found), a.shape[a.ndim - 1]
    )
    return found


def adjugate(cnp.ndarray a not None):
    """The determinant times the inverse, and for each matrix whether that is sound; None where no kernel knows them."""
    return with_soundness(a, True) if is_small(a) else None


def inverse(cnp.ndarray a not None):
    """The inverse, of singular matrices not finite, and for each matrix whether that is sound; or None."""
    return with_soundness(a, False) if is_small(a) else None


cdef tuple with_soundness(cnp.ndarray a, bint scaled):
    a = cnp.PyArray_GETCONTIGUOUS(a)
    cdef cnp.ndarray found = np.empty_like(a)
    cdef cnp.ndarray is_sound = cnp.PyArray_EMPTY(a.ndim - 2, a.shape, cnp.NPY_BOOL, 0)
    cdef unsigned char *flags = <unsigned char *>cnp.PyArray_DATA(is_sound)
    cdef int n = a.shape[a.ndim - 1]
    if scaled:
        gs_small_adjugate(
            is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(found), flags, cnp.PyArray_SIZE(is_sound), n
        )
    else:
        gs_small_inverse(
            is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(found), flags, cnp.PyArray_SIZE(is_sound), n
        )
    return found, is_sound


def slogdet(cnp.ndarray a not None):
    """``numpy.linalg.slogdet(a)``, arrays also where they are numbers."""
    if not is_small(a):
        return tuple([np.asarray(part) for part in np.linalg.slogdet(a)])
    a = cnp.PyArray_GETCONTIGUOUS(a)
    cdef cnp.ndarray sign = without(a, 2), logarithm = without(a, 2)
    gs_small_slogdet(
        is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(sign), cnp.PyArray_DATA(logarithm), cnp.PyArray_SIZE(sign),
        a.shape[a.ndim - 1],
    )
    return sign, logarithm


def cholesky(cnp.ndarray a not None):
    """Triangular factors of small matrices; None where one is not positive definite."""
    if not is_small(a):
        raise TypeError(f"cholesky(): expected small matrices of float32 or float64, got {a.dtype}, {(<object>a).shape}")
    a = cnp.PyArray_GETCONTIGUOUS(a)
    cdef cnp.ndarray factor = np.empty_like(a)
    cdef int n = a.shape[a.ndim - 1]
    cdef Py_ssize_t failed = gs_small_cholesky(
        is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(factor), cnp.PyArray_SIZE(a) // (n * n), n
    )
    return factor if failed < 0 else None


cdef bint is_walked_in_tiles(cnp.ndarray a) noexcept:
    """Are triangles of these matrices taken here and not by NumPy?"""
    cdef int kind = cnp.PyArray_TYPE(a), ndim = a.ndim
    return (
        (kind == cnp.NPY_FLOAT64 or kind == cnp.NPY_FLOAT32)
        and ndim > 1
        and a.shape[ndim - 1] == a.shape[ndim - 2]
        and cnp.PyArray_SIZE(a) > 0
        and cnp.PyArray_ISNOTSWAPPED(a)
    )


def hermitian(cnp.ndarray a not None, bint lower):
    """The Hermitian matrix that one triangle of a square one describes."""
    cdef cnp.ndarray found
    cdef Py_ssize_t n
    if is_walked_in_tiles(a):
        n = a.shape[a.ndim - 1]
        a = cnp.PyArray_GETCONTIGUOUS(a)
        found = np.empty_like(a)
        gs_symmetric(is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(found), cnp.PyArray_SIZE(a) // (n * n), n, lower)
        return found
    below = np.tril(a, -1) if lower else np.conj(np.triu(a, 1)).swapaxes(-1, -2)
    found = below + np.conj(below).swapaxes(-1, -2)
    np.einsum("...ii->...i", found)[...] = np.einsum("...ii->...i", a).real
    return found


def mean_with_adjoint(cnp.ndarray a not None):
    """Half the sum of a square matrix and its adjoint."""
    cdef cnp.ndarray found
    cdef Py_ssize_t n
    if is_walked_in_tiles(a):
        n = a.shape[a.ndim - 1]
        a = cnp.PyArray_GETCONTIGUOUS(a)
        found = np.empty_like(a)
        gs_mean_with_transpose(
            is_double(a), cnp.PyArray_DATA(a), cnp.PyArray_DATA(found), cnp.PyArray_SIZE(a) // (n * n), n
        )
        return found
    return 0.5 * (a + np.conj(a).swapaxes(-1, -2))
