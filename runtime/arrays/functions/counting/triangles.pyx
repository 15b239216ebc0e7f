"""Rows and columns of the elements of a matrix on one side of a diagonal."""

cimport numpy as cnp
from numpy cimport int32_t, int64_t, npy_intp

from gradsmith.runtime.arrays.functions.ownership cimport fresh

cnp.import_array()

ctypedef fused integer:
    int32_t
    int64_t


def triangle_places(npy_intp rows, npy_intp columns, offset, bint upper, bint wide):
    """Rows, and below them columns, as int64 where `wide`, else int32: on a diagonal and above it if `upper`, or below.

    The diagonal starts in column `offset`, or in a row where that is negative.
    """
    cdef npy_intp shift = min(max(offset, -rows - 1), columns + 1)
    cdef npy_intp count = 0, row
    for row in range(rows):
        count += end_of(row, columns, shift, upper) - start_of(row, columns, shift, upper)
    result = fresh(cnp.NPY_INT64 if wide else cnp.NPY_INT32, (2, count))
    if wide:
        fill_places(<int64_t *>cnp.PyArray_DATA(result), count, rows, columns, shift, upper)
    else:
        fill_places(<int32_t *>cnp.PyArray_DATA(result), count, rows, columns, shift, upper)
    return result


def pair_numbers(npy_intp n):
    """Where the elements above the diagonal of a square matrix stand in its rows, one after the other."""
    cdef npy_intp row, column, i = 0
    cdef int64_t *numbers
    result = fresh(cnp.NPY_INT64, (n * (n - 1) // 2,))
    numbers = <int64_t *>cnp.PyArray_DATA(result)
    for row in range(n):
        for column in range(row + 1, n):
            numbers[i + column - row - 1] = row * n + column
        i += n - row - 1
    return result


cdef inline npy_intp start_of(npy_intp row, npy_intp columns, npy_intp shift, bint upper) noexcept nogil:
    return min(max(row + shift, 0), columns) if upper else 0


cdef inline npy_intp end_of(npy_intp row, npy_intp columns, npy_intp shift, bint upper) noexcept nogil:
    return columns if upper else min(max(row + shift + 1, 0), columns)


cdef void fill_places(
    integer *places, npy_intp count, npy_intp rows, npy_intp columns, npy_intp shift, bint upper
) noexcept nogil:
    cdef npy_intp row, i, first, length
    for row in range(rows):
        first = start_of(row, columns, shift, upper)
        length = end_of(row, columns, shift, upper) - first
        for i in range(length):
            places[i] = <integer>row
        for i in range(length):
            places[count + i] = <integer>(first + i)
        places += length
