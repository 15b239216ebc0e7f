"""Gaussian elimination with row exchanges, and solutions and inverses by the factors that it gives."""

cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport lu, lu_inverse, lu_solve

import numpy as np

cnp.import_array()


cdef bint are_numbers(cnp.ndarray a) noexcept:
    return cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128)


cdef cnp.ndarray plain(cnp.ndarray a, bint copies):
    """Contiguous and in native byte order."""
    if copies:
        return np.array(a, (<object>a).dtype.newbyteorder("="), order="C")
    return np.ascontiguousarray(a, (<object>a).dtype.newbyteorder("="))


cdef Py_ssize_t count_of(cnp.ndarray a, int dims) noexcept:
    """How many there are before the last dimensions."""
    cdef Py_ssize_t count = 1
    for d in range(a.ndim - dims):
        count *= a.shape[d]
    return count


def eliminate(cnp.ndarray a not None):
    """Both factors of each matrix in one array, and the rows, counted from 1, that were exchanged with each row."""
    cdef int ndim = a.ndim
    if ndim < 2 or not are_numbers(a):
        raise TypeError(f"eliminate(): expected matrices of real or complex numbers, got {a.dtype} of {a.ndim} dimensions")
    cdef Py_ssize_t m = a.shape[ndim - 2], n = a.shape[ndim - 1]
    a = plain(a, True)
    cdef cnp.ndarray pivots = np.empty((*(<object>a).shape[:ndim - 2], min(m, n)), np.int32)
    lu(cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), <int *>cnp.PyArray_DATA(pivots), count_of(a, 2), m, n)
    return a, pivots


cdef int check_factors(str name, cnp.ndarray factors, cnp.ndarray pivots) except -1:
    """Are these what `eliminate` gives for square matrices, with pivots in range?"""
    cdef int ndim = factors.ndim
    if not (
        ndim > 1 and are_numbers(factors) and factors.shape[ndim - 1] == factors.shape[ndim - 2]
        and cnp.PyArray_TYPE(pivots) == cnp.NPY_INT32 and pivots.ndim == ndim - 1
        and cnp.PyArray_CompareLists(factors.shape, pivots.shape, ndim - 1)
    ):
        raise TypeError(f"{name}(): expected the factors of square matrices, and their pivots")
    numbers = <object>pivots
    if numbers.size and not (0 < numbers.min() and numbers.max() <= factors.shape[ndim - 1]):
        raise RuntimeError(f"{name}(): the pivots should be between 1 and {factors.shape[ndim - 1]}")
    return 0


def solve_by_factors(cnp.ndarray factors not None, cnp.ndarray pivots not None, cnp.ndarray b not None, bint transposed):
    """Solutions for the columns of `b`, as a new array, by the factors of the matrices or of one for all."""
    check_factors("solve_by_factors", factors, pivots)
    cdef int ndim = b.ndim
    cdef Py_ssize_t n = factors.shape[factors.ndim - 1], step = count_of(factors, 2) != 1, k, count
    if ndim < 2 or b.shape[ndim - 2] != n or cnp.PyArray_TYPE(b) != cnp.PyArray_TYPE(factors):
        raise TypeError(f"solve_by_factors(): expected {n} rows of {factors.dtype}, got {b.dtype} of size {list((<object>b).shape)}")
    if step and not (ndim == factors.ndim and cnp.PyArray_CompareLists(b.shape, factors.shape, ndim - 2)):
        raise TypeError("solve_by_factors(): expected as many matrices on both sides, or one on the left")
    factors, pivots, b = plain(factors, False), plain(pivots, False), plain(b, True)
    k, count = b.shape[ndim - 1], count_of(b, 2)
    lu_solve(
        cnp.PyArray_TYPE(b), cnp.PyArray_DATA(factors), <int *>cnp.PyArray_DATA(pivots), step, cnp.PyArray_DATA(b),
        count, n, k, transposed
    )
    return b


def invert_by_factors(cnp.ndarray factors not None, cnp.ndarray pivots not None):
    """Inverses of the matrices that have these factors."""
    check_factors("invert_by_factors", factors, pivots)
    factors, pivots = plain(factors, False), plain(pivots, False)
    cdef cnp.ndarray inverse = np.empty_like(factors)
    lu_inverse(
        cnp.PyArray_TYPE(factors), cnp.PyArray_DATA(factors), <int *>cnp.PyArray_DATA(pivots),
        cnp.PyArray_DATA(inverse), count_of(factors, 2), factors.shape[factors.ndim - 1]
    )
    return inverse


def exchanged_rows(cnp.ndarray pivots not None, Py_ssize_t m):
    """Which of `m` rows is where after the exchanges, which have to be in range."""
    cdef cnp.ndarray swaps = np.ascontiguousarray(pivots, np.int32)
    cdef Py_ssize_t steps = swaps.shape[swaps.ndim - 1]
    numbers = <object>swaps
    if pivots.ndim == 0 or steps > m or (numbers.size and not (0 < numbers.min() and numbers.max() <= m)):
        raise RuntimeError(f"the row exchanges should be vectors of at most {m} numbers from 1 to {m}")
    cdef cnp.ndarray rows = np.empty((*(<object>pivots).shape[:pivots.ndim - 1], m), np.intp)
    rows[...] = np.arange(m)
    cdef Py_ssize_t count = 0 if m == 0 else cnp.PyArray_SIZE(rows) // m
    cdef cnp.npy_intp *places = <cnp.npy_intp *>cnp.PyArray_DATA(rows)
    cdef const cnp.int32_t *others = <const cnp.int32_t *>cnp.PyArray_DATA(swaps)
    cdef Py_ssize_t i, step, other
    cdef cnp.npy_intp kept
    with nogil:
        for i in range(count):
            for step in range(steps):
                other = others[i * steps + step] - 1
                kept = places[i * m + step]
                places[i * m + step] = places[i * m + other]
                places[i * m + other] = kept
    return rows
