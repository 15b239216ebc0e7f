"""Entries of a sparse matrix, read from products that show several of its rows or columns at once."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
cimport numpy as cnp

cnp.import_array()

# Elements are only moved, so their size is all that matters.
ctypedef fused element_t:
    uint16_t
    uint32_t
    uint64_t

ctypedef fused place_t:
    int32_t
    int64_t


def read_entries(list products, const int32_t[::1] colors, const place_t[::1] places, element_t[::1] out):
    """Write the element at ``places[k]`` of ``products[colors[k]]`` to ``out[k]``.

    Parameters
    ----------
    products : list of ndarray
        Contiguous ones of equal length, and of the item size of `out`.
    colors, places : memoryview
        As long as `out`.

    Raises
    ------
    IndexError
        A place lies outside of the products.
    """
    cdef Py_ssize_t k, count = len(products), size = products[0].size if products else 0
    cdef const element_t **data = <const element_t **>malloc((count or 1) * sizeof(void *))
    if data is NULL:
        raise MemoryError()
    try:
        for k in range(count):
            data[k] = <const element_t *>cnp.PyArray_DATA(products[k])
        for k in range(out.shape[0]):
            if not (0 <= colors[k] < count and 0 <= places[k] < size):
                raise IndexError(f"entry {k} is at {places[k]} of product {colors[k]}: there are {count} of {size}")
            out[k] = data[colors[k]][places[k]]
    finally:
        free(data)
