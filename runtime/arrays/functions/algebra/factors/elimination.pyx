"""Gaussian elimination with row exchanges, and solutions and inverses by the factors that it gives."""

cimport numpy as cnp
from libc.string cimport memcpy
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport full_array, lu, lu_inverse, lu_solve
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh, take

import numpy as np

cnp.import_array()


cdef bint are_numbers(cnp.ndarray a) noexcept:
    return cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128)


cdef cnp.ndarray plain(cnp.ndarray a, bint copies):
    """Contiguous and in native byte order."""
    cdef cnp.ndarray found
    if not copies:
        native = cnp.PyArray_ISNOTSWAPPED(a)
        return cnp.PyArray_GETCONTIGUOUS(a) if native else np.ascontiguousarray(a, a.dtype.newbyteorder("="))
    found = fresh(cnp.PyArray_TYPE(a), (<object>a).shape)
    cnp.PyArray_CopyInto(found, a)
    return found


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
        raise TypeError(f"eliminate(): expected matrices of real or complex numbers, got {a.dtype}, {a.ndim} dimensions")
    cdef Py_ssize_t m = a.shape[ndim - 2], n = a.shape[ndim - 1]
    a = plain(a, True)
    cdef cnp.ndarray pivots = fresh(cnp.NPY_INT32, (*(<object>a).shape[:ndim - 2], min(m, n)))
    lu(cnp.PyArray_TYPE(a), cnp.PyArray_DATA(a), <int *>cnp.PyArray_DATA(pivots), count_of(a, 2), m, n)
    return a, pivots


cdef int check_factors(str name, cnp.ndarray factors, cnp.ndarray pivots) except -1:
    """Are these like what `eliminate` gives for square matrices?"""
    cdef int ndim = factors.ndim
    if not (
        ndim > 1 and are_numbers(factors) and factors.shape[ndim - 1] == factors.shape[ndim - 2]
        and cnp.PyArray_TYPE(pivots) == cnp.NPY_INT32 and pivots.ndim == ndim - 1
        and cnp.PyArray_CompareLists(factors.shape, pivots.shape, ndim - 1)
    ):
        raise TypeError(f"{name}(): expected the factors of square matrices, and their pivots")
    return 0


cdef cnp.ndarray checked(str name, cnp.ndarray pivots, Py_ssize_t m):
    """Contiguous pivots, all in range."""
    cdef Py_ssize_t i
    pivots = plain(pivots, False)
    cdef const cnp.int32_t *numbers = <const cnp.int32_t *>cnp.PyArray_DATA(pivots)
    for i in range(cnp.PyArray_SIZE(pivots)):
        if not 0 < numbers[i] <= m:
            raise RuntimeError(f"{name}(): the pivots should be between 1 and {m}")
    return pivots


def solve_by_factors(
    cnp.ndarray factors not None, cnp.ndarray pivots not None, cnp.ndarray b not None, bint transposed
):
    """Solutions for the columns of `b`, as a new array, by the factors of the matrices or of one for all."""
    check_factors("solve_by_factors", factors, pivots)
    cdef int ndim = b.ndim
    cdef Py_ssize_t n = factors.shape[factors.ndim - 1], step = count_of(factors, 2) != 1, k, count
    if ndim < 2 or b.shape[ndim - 2] != n or cnp.PyArray_TYPE(b) != cnp.PyArray_TYPE(factors):
        shown = f"{b.dtype} of size {list((<object>b).shape)}"
        raise TypeError(f"solve_by_factors(): expected {n} rows of {factors.dtype}, got {shown}")
    if step and not (ndim == factors.ndim and cnp.PyArray_CompareLists(b.shape, factors.shape, ndim - 2)):
        raise TypeError("solve_by_factors(): expected as many matrices on both sides, or one on the left")
    factors, pivots, b = plain(factors, False), checked("solve_by_factors", pivots, n), plain(b, True)
    k, count = b.shape[ndim - 1], count_of(b, 2)
    lu_solve(
        cnp.PyArray_TYPE(b), cnp.PyArray_DATA(factors), <int *>cnp.PyArray_DATA(pivots), step, cnp.PyArray_DATA(b),
        count, n, k, transposed
    )
    return b


def invert_by_factors(cnp.ndarray factors not None, cnp.ndarray pivots not None):
    """Inverses of the matrices that have these factors."""
    check_factors("invert_by_factors", factors, pivots)
    factors, pivots = plain(factors, False), checked("invert_by_factors", pivots, factors.shape[factors.ndim - 1])
    cdef cnp.ndarray inverse = fresh(cnp.PyArray_TYPE(factors), (<object>factors).shape)
    lu_inverse(
        cnp.PyArray_TYPE(factors), cnp.PyArray_DATA(factors), <int *>cnp.PyArray_DATA(pivots),
        cnp.PyArray_DATA(inverse), count_of(factors, 2), factors.shape[factors.ndim - 1]
    )
    return inverse


cdef bint are_in_range(const cnp.int64_t *pivots, Py_ssize_t count, Py_ssize_t m) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        if not 0 < pivots[i] <= m:
            return False
    return True


cdef void exchange_in_one(
    char *a, const cnp.int64_t *pivots, Py_ssize_t steps, Py_ssize_t row_size, char *row, bint backwards
) noexcept nogil:
    cdef Py_ssize_t i, step
    cdef char *one
    cdef char *other
    for i in range(steps):
        step = steps - 1 - i if backwards else i
        one, other = a + step * row_size, a + (pivots[step] - 1) * row_size
        if one != other:
            memcpy(row, one, row_size)
            memcpy(one, other, row_size)
            memcpy(other, row, row_size)


def exchange_rows(cnp.ndarray a not None, cnp.ndarray pivots not None, bint backwards):
    """A copy in which each row is exchanged with its pivot, counted from 1, the last row first if `backwards`.

    A vector of pivots is for all matrices.
    """
    cdef int ndim = a.ndim
    cdef cnp.ndarray places = np.ascontiguousarray(pivots, np.int64)
    if ndim < 2 or pivots.ndim == 0 or (
        pivots.ndim > 1 and not (pivots.ndim == ndim - 1 and cnp.PyArray_CompareLists(a.shape, pivots.shape, ndim - 2))
    ):
        raise TypeError("exchange_rows(): expected matrices, and as many vectors of pivots or one")
    cdef Py_ssize_t m = a.shape[ndim - 2], steps = pivots.shape[pivots.ndim - 1], count = count_of(a, 2), i
    cdef const cnp.int64_t *numbers = <const cnp.int64_t *>cnp.PyArray_DATA(places)
    if steps > m or not are_in_range(numbers, cnp.PyArray_SIZE(places), m):
        raise RuntimeError(f"exchange_rows(): expected at most {m} pivots from 1 to {m}")
    a = plain(a, True)
    cdef Py_ssize_t row_size = a.shape[ndim - 1] * cnp.PyArray_ITEMSIZE(a), step = steps if pivots.ndim > 1 else 0
    cdef char *data = cnp.PyArray_BYTES(a)
    cdef bytearray row = bytearray(row_size)
    cdef char *memory = row
    with nogil:
        for i in range(count):
            exchange_in_one(data + i * m * row_size, numbers + i * step, steps, row_size, memory, backwards)
    return a


def permutation_matrices(cnp.ndarray factors not None, cnp.ndarray pivots not None):
    """P of A = P L U, in the dtype of the factors; None for pivots that are not like those of `eliminate`."""
    cdef int ndim = factors.ndim
    if not (
        ndim > 1 and are_numbers(factors) and cnp.PyArray_TYPE(pivots) == cnp.NPY_INT32 and pivots.ndim == ndim - 1
        and cnp.PyArray_CompareLists(factors.shape, pivots.shape, ndim - 2)
    ):
        return None
    cdef npy_intp sizes[MAX_DIMS]
    cdef Py_ssize_t m = factors.shape[ndim - 2], steps = pivots.shape[ndim - 2], i, row
    memcpy(sizes, factors.shape, (ndim - 1) * sizeof(npy_intp))
    sizes[ndim - 1] = m
    pivots = plain(pivots, False)
    cdef const cnp.int32_t *numbers = <const cnp.int32_t *>cnp.PyArray_DATA(pivots)
    for i in range(cnp.PyArray_SIZE(pivots)):
        if steps > m or not 0 < numbers[i] <= m:
            return None
    cdef cnp.ndarray found = take(full_array(cnp.PyArray_TYPE(factors), ndim, sizes, 0))
    cdef cnp.ndarray one = take(full_array(cnp.PyArray_TYPE(factors), 0, NULL, 1))
    cdef cnp.ndarray order = fresh(cnp.NPY_INT64, (m,))
    cdef cnp.int64_t *places = <cnp.int64_t *>cnp.PyArray_DATA(order)
    cdef char *to = cnp.PyArray_BYTES(found)
    cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(found)
    for i in range(count_of(found, 2)):
        exchange_places(places, numbers + i * steps, steps, m)
        for row in range(m):
            memcpy(to + ((i * m + row) * m + places[row]) * width, cnp.PyArray_DATA(one), width)
    return found


cdef void exchange_places(
    cnp.int64_t *places, const cnp.int32_t *pivots, Py_ssize_t steps, Py_ssize_t m
) noexcept nogil:
    """Where the one stands in each row of a unit matrix after the exchanges, the last one first."""
    cdef Py_ssize_t row
    for row in range(m):
        places[row] = row
    for row in range(steps - 1, -1, -1):
        places[row], places[pivots[row] - 1] = places[pivots[row] - 1], places[row]


def parity(cnp.ndarray pivots not None):
    """The determinant of the exchanges of rows, 1.0 or -1.0, for each vector of pivots."""
    if pivots.ndim == 0 or cnp.PyArray_TYPE(pivots) != cnp.NPY_INT32:
        raise TypeError(f"parity(): expected vectors of int32, got {pivots.dtype} of {pivots.ndim} dimensions")
    cdef Py_ssize_t steps = pivots.shape[pivots.ndim - 1], i, step
    pivots = plain(pivots, False)
    cdef cnp.ndarray found = cnp.PyArray_EMPTY(pivots.ndim - 1, pivots.shape, cnp.NPY_FLOAT64, 0)
    cdef const cnp.int32_t *numbers = <const cnp.int32_t *>cnp.PyArray_DATA(pivots)
    cdef double *signs = <double *>cnp.PyArray_DATA(found)
    for i in range(count_of(pivots, 1)):
        signs[i] = 1
        for step in range(steps):
            if numbers[i * steps + step] != step + 1:
                signs[i] = -signs[i]
    return found
