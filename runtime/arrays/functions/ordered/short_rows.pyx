"""The order of short rows, by insertion: what comes before it costs more than the sorting where there is little to sort."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport contiguous
from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes, take

cnp.import_array()

cdef enum:
    MOST = 32               # elements of a row that is short
    MOST_FLOATS = 16        # the same of numbers that may be NaN, whose comparisons cost more
    LARGE = 1024            # elements of all rows from which on other threads run

ctypedef fused number:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double

cdef struct Rows:
    npy_intp outer, length, inner       # elements of a row are `inner` apart
    bint descending
    int64_t *places


def sorted_short_rows(cnp.ndarray a not None, int axis, bint descending):
    """Values and places along an axis, equal ones in the order of their places, NaN as the greatest of all.

    None of longer rows, and of elements that there is no loop for.
    """
    cdef Rows rows
    cdef int ndim = cnp.PyArray_NDIM(a), type_number = cnp.PyArray_TYPE(a), dim
    cdef npy_intp most = MOST_FLOATS if cnp.PyTypeNum_ISFLOAT(type_number) else MOST
    if ndim == 0 or cnp.PyArray_DIM(a, axis) > most or not has_loop(a):
        return None
    a = take(contiguous(<PyObject *>a))
    values = fresh_of_sizes(a, type_number, ndim, cnp.PyArray_DIMS(a))
    places = fresh_of_sizes(a, cnp.NPY_INT64, ndim, cnp.PyArray_DIMS(a))
    rows.outer, rows.length, rows.inner = 1, cnp.PyArray_DIM(a, axis), 1
    for dim in range(axis):
        rows.outer *= cnp.PyArray_DIM(a, dim)
    for dim in range(axis + 1, ndim):
        rows.inner *= cnp.PyArray_DIM(a, dim)
    rows.descending, rows.places = descending, <int64_t *>cnp.PyArray_DATA(places)
    cdef const void *elements = cnp.PyArray_DATA(a)
    cdef void *to = cnp.PyArray_DATA(values)
    if cnp.PyArray_SIZE(a) < LARGE:
        sort_by_type(&rows, type_number, elements, to)
    else:
        with nogil:
            sort_by_type(&rows, type_number, elements, to)
    return values, places


cdef bint has_loop(cnp.ndarray a) noexcept:
    cdef int type_number = cnp.PyArray_TYPE(a)
    if not cnp.PyArray_ISBEHAVED_RO(a):
        return False
    return cnp.PyTypeNum_ISINTEGER(type_number) or type_number in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_BOOL)


cdef void sort_by_type(const Rows *rows, int type_number, const void *elements, void *values) noexcept nogil:
    if type_number == cnp.NPY_FLOAT32:
        sort_rows(rows, <const float *>elements, <float *>values)
    elif type_number == cnp.NPY_FLOAT64:
        sort_rows(rows, <const double *>elements, <double *>values)
    elif type_number in (cnp.NPY_INT64, cnp.NPY_LONGLONG):
        sort_rows(rows, <const int64_t *>elements, <int64_t *>values)
    elif type_number == cnp.NPY_INT32:
        sort_rows(rows, <const int32_t *>elements, <int32_t *>values)
    elif type_number == cnp.NPY_INT16:
        sort_rows(rows, <const int16_t *>elements, <int16_t *>values)
    elif type_number == cnp.NPY_INT8:
        sort_rows(rows, <const int8_t *>elements, <int8_t *>values)
    elif type_number in (cnp.NPY_UINT64, cnp.NPY_ULONGLONG):
        sort_rows(rows, <const uint64_t *>elements, <uint64_t *>values)
    elif type_number == cnp.NPY_UINT32:
        sort_rows(rows, <const uint32_t *>elements, <uint32_t *>values)
    elif type_number == cnp.NPY_UINT16:
        sort_rows(rows, <const uint16_t *>elements, <uint16_t *>values)
    else:
        sort_rows(rows, <const uint8_t *>elements, <uint8_t *>values)


cdef void sort_rows(const Rows *rows, const number *elements, number *values) noexcept nogil:
    cdef npy_intp o, i, start
    for o in range(rows.outer):
        for i in range(rows.inner):
            start = o * rows.length * rows.inner + i
            insert_each(
                elements + start, values + start, rows.places + start, rows.length, rows.inner, rows.descending
            )


cdef inline void insert_each(
    const number *row, number *values, int64_t *places, npy_intp length, npy_intp step, bint descending
) noexcept nogil:
    cdef npy_intp i, k
    cdef number x
    for i in range(length):
        x = row[i * step]
        k = i * step
        while k and comes_before(x, values[k - step], descending):
            values[k], places[k] = values[k - step], places[k - step]
            k -= step
        values[k], places[k] = x, i


cdef inline bint comes_before(number x, number other, bint descending) noexcept nogil:
    if number is float or number is double:
        if x != x or other != other:
            return x != x and other == other if descending else x == x and other != other
    return x > other if descending else x < other
