"""Views by an index of integers, slices, None and Ellipsis, and zeros around such a part.

The index is read here, and a view is made from the layout that it says. NumPy does the same in more general ways, which
take several times as long; it is asked where an index is anything else, and for the errors.
"""

from cpython.long cimport PyLong_AsSsize_t, PyLong_CheckExact
from cpython.ref cimport PyObject
from libc.string cimport memset
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport ADD, binary_into, copy_into, fill, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh
from gradsmith.runtime.arrays.functions.shapes cimport Layout, part as part_of, push, view_at

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data

cnp.import_array()

cdef extern from "Python.h":
    bint PySlice_Check(object)
    int PySlice_Unpack(object, Py_ssize_t *, Py_ssize_t *, Py_ssize_t *) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t *, Py_ssize_t *, Py_ssize_t) noexcept
    int PyObject_SetItem(object, object, object) except? -1

# Bytes from which memory costs more than looking at an index.
cdef enum:
    WORTH_LOOKING = 1 << 15


cpdef object basic_index_of(object a, object index):
    """A view, also where NumPy would give a number."""
    cdef Layout layout
    cdef npy_intp offset = 0
    if isinstance(a, cnp.ndarray) and read_index(a, index, &layout, &offset):
        return view_at(a, &layout, offset)
    result = a[index]
    if isinstance(result, cnp.ndarray):
        return result
    return a[(*index, ...) if isinstance(index, tuple) else (index, ...)]


cpdef object basic_index_backward_of(object a, object shape, object index):
    """Zeros of `shape`, with `a` at the place that an index names."""
    cdef Layout layout
    cdef npy_intp offset = 0
    if is_meta(<PyObject *>a):
        return array_without_data(shape, a.dtype)
    result = zeros_around(cnp.PyArray_TYPE(a), tuple(shape), index)
    if read_index(result, index, &layout, &offset) and has_sizes(a, &layout):
        part = view_at(result, &layout, offset)
        copy_into(<PyObject *>part, <PyObject *>a)
    elif PyObject_SetItem(result, index, a) < 0:
        raise MemoryError()     # NumPy has failed for want of memory when it fails without an exception
    return result


cdef bint add_at(object total, object a, object index) except -1:
    cdef Layout layout
    cdef npy_intp offset = 0
    if not read_index(total, index, &layout, &offset) or not has_sizes(a, &layout):
        return False
    part = view_at(total, &layout, offset)
    binary_into(ADD, <PyObject *>part, <PyObject *>a, <PyObject *>part)
    return True


cdef bint has_sizes(cnp.ndarray a, Layout *layout) noexcept:
    cdef int dim
    if cnp.PyArray_NDIM(a) != layout.ndim:
        return False
    for dim in range(layout.ndim):
        if cnp.PyArray_DIM(a, dim) != layout.sizes[dim]:
            return False
    return True


# ---- what an index selects

cdef bint read_index(cnp.ndarray a, object index, Layout *layout, npy_intp *offset) except -1:
    """Layout and offset of the part that an index selects; False for any that is to be left to NumPy."""
    cdef tuple parts = index if type(index) is tuple else (index,)
    cdef int skipped = dims_skipped(a, parts)
    cdef int dim = 0
    layout.ndim = 0
    if skipped < 0:
        return False
    for part in parts:
        if part is None:
            push(layout, 1, 0)
        elif part is Ellipsis:
            dim = push_whole(layout, a, dim, dim + skipped)
        elif PySlice_Check(part):
            push_slice(layout, a, dim, part, offset)
            dim += 1
        elif add_place(a, dim, part, offset):
            dim += 1
        else:
            return False
    push_whole(layout, a, dim, cnp.PyArray_NDIM(a))
    return True


cdef int dims_skipped(cnp.ndarray a, tuple parts) except? -1:
    """How many dimensions an Ellipsis stands for; -1 for an index with other parts than these, or with too many."""
    cdef int named = 0, ellipses = 0
    for part in parts:
        if part is Ellipsis:
            ellipses += 1
        elif PyLong_CheckExact(part) or PySlice_Check(part):
            named += 1
        elif part is not None:
            return -1
    if ellipses > 1 or named > cnp.PyArray_NDIM(a) or len(parts) - named > MAX_DIMS - cnp.PyArray_NDIM(a):
        return -1
    return cnp.PyArray_NDIM(a) - named


cdef int push_whole(Layout *layout, cnp.ndarray a, int dim, int end) except -1:
    """All of the dimensions up to `end`, which is returned."""
    while dim < end:
        push(layout, cnp.PyArray_DIM(a, dim), cnp.PyArray_STRIDE(a, dim))
        dim += 1
    return dim


cdef int push_slice(Layout *layout, cnp.ndarray a, int dim, object part, npy_intp *offset) except -1:
    cdef Py_ssize_t start, stop, step, length
    PySlice_Unpack(part, &start, &stop, &step)
    length = PySlice_AdjustIndices(cnp.PyArray_DIM(a, dim), &start, &stop, step)
    if length > 0:      # the view of nothing begins where the array does
        offset[0] += start * cnp.PyArray_STRIDE(a, dim)
    return push(layout, length, step * cnp.PyArray_STRIDE(a, dim))


cdef bint add_place(cnp.ndarray a, int dim, object number, npy_intp *offset) except -1:
    """Move the offset to one element of a dimension; False where there is none."""
    cdef Py_ssize_t place
    try:
        place = PyLong_AsSsize_t(number)
    except OverflowError:
        return False
    if place < 0:
        place += cnp.PyArray_DIM(a, dim)
    if not 0 <= place < cnp.PyArray_DIM(a, dim):
        return False
    offset[0] += place * cnp.PyArray_STRIDE(a, dim)
    return True


# ---- zeros

cdef object zeros_around(int type_number, tuple shape, object index):
    """Zeros wherever a write to this index will not reach: big arrays are written once, not twice."""
    result = fresh(type_number, shape)
    if cnp.PyArray_NBYTES(result) < WORTH_LOOKING:
        memset(cnp.PyArray_DATA(result), 0, cnp.PyArray_NBYTES(result))
    else:
        zero_around(result, index if type(index) is tuple else (index,))
    return result


cdef int zero_around(cnp.ndarray result, tuple parts) except -1:
    """Zeros before and behind what integers and slices of step one name, one dimension after the other."""
    cdef int skipped = dims_skipped(result, parts)
    cdef int dim = 0
    cdef npy_intp first, last
    rest = result
    if skipped < 0:
        return zero(rest)
    for part in parts:
        if part is None:
            continue
        if part is Ellipsis:
            dim += skipped
            continue
        if not is_span(part):
            return zero(rest)
        first, last = span_of(part, cnp.PyArray_DIM(rest, dim))
        zero(part_of(rest, dim, 0, first))
        zero(part_of(rest, dim, last, cnp.PyArray_DIM(rest, dim) - last))
        rest = part_of(rest, dim, first, last - first)
        dim += 1
    return 0


cdef int zero(cnp.ndarray a) except -1:
    if not cnp.PyArray_IS_C_CONTIGUOUS(a):
        return fill(<PyObject *>a, 0)
    memset(cnp.PyArray_DATA(a), 0, cnp.PyArray_NBYTES(a))
    return 0


cdef bint is_span(object part) except -1:
    return not PySlice_Check(part) or part.step in (None, 1)


cdef (npy_intp, npy_intp) span_of(object part, npy_intp size) except *:
    """Where an integer, or a slice of step one, begins and ends."""
    cdef npy_intp first, last
    if PySlice_Check(part):
        first, last, _ = part.indices(size)
    else:
        first = min(max(part + size if part < 0 else part, 0), size)    # one that is out of range is refused later
        last = min(first + 1, size)
    return first, max(first, last)
