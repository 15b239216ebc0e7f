"""The order of long rows, by their digits; see Note [Sorting by digits] in radix_kernels.c."""

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "runtime/arrays/functions/counting/radix_kernels.h":
    ctypedef enum NumberKind "gs_number_kind":
        UNSIGNED "GS_UNSIGNED"
        SIGNED "GS_SIGNED"
        FLOATING "GS_FLOATING"
    int gs_order_rows(
        const void *rows, cnp.npy_intp n_rows, cnp.npy_intp n, int itemsize, NumberKind kind, cnp.npy_int64 *places
    ) noexcept nogil

cdef dict KINDS = {"u": UNSIGNED, "i": SIGNED, "f": FLOATING}


# Rows of this length and more are sorted faster by digits than by comparisons.
cdef dict LEAST_LENGTHS = {"f4": 512, "i4": 512, "u4": 512, "i8": 1024, "u8": 1024, "f8": 2048}


def is_sorted_by_digits(object dtype, Py_ssize_t length):
    """Is this the sort for rows of this length? Their places fit into four bytes."""
    return dtype.isnative and length >= LEAST_LENGTHS.get(dtype.str[1:], 1 << 32) and length < 1 << 32


def order_of_rows(cnp.ndarray rows not None):
    """Places of the elements of each row in ascending order, equal ones in the order of their places, NaN last."""
    cdef NumberKind kind = KINDS[(<object>rows).dtype.kind]
    cdef int itemsize = cnp.PyArray_ITEMSIZE(rows), status
    cdef cnp.npy_intp n = cnp.PyArray_DIM(rows, cnp.PyArray_NDIM(rows) - 1)
    cdef cnp.npy_intp n_rows = cnp.PyArray_SIZE(rows) // n
    cdef cnp.ndarray given = np.ascontiguousarray(rows)
    cdef cnp.ndarray places = np.empty((<object>rows).shape, np.int64)
    with nogil:
        status = gs_order_rows(
            cnp.PyArray_DATA(given), n_rows, n, itemsize, kind, <cnp.npy_int64 *>cnp.PyArray_DATA(places)
        )
    if status < 0:
        raise MemoryError(f"sort(): no memory to sort rows of {n} elements")
    return places
