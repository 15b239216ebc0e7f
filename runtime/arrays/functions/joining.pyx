"""Arrays made of several arrays, or of one in another order."""

from cpython.ref cimport PyObject
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport copy_into, is_meta
from gradsmith.runtime.arrays.functions.normalize cimport read_axes, wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_beside, fresh_of_sizes
from gradsmith.runtime.arrays.functions.pointwise cimport clone_of
from gradsmith.runtime.arrays.functions.shapes cimport part, select_of

from functools import reduce

import numpy as np

from gradsmith.runtime.arrays.dtypes import promote_types

cnp.import_array()


cdef extern from "runtime/arrays/kernels/short_copy.h":
    void copy_few "gs_copy_few"(char *to, const char *source, npy_intp n) noexcept nogil

# Bytes of an operand up to which its rows are copied here; copies of more may have several threads.
cdef enum:
    SMALL = 1 << 15


cpdef object cat_of(list tensors, Py_ssize_t dim):
    """Join along an axis; arrays of size (0,) fit everywhere, as in PyTorch."""
    cdef npy_intp sizes[MAX_DIMS]
    cdef npy_intp start = 0
    cdef int axis
    if not tensors:
        raise ValueError("cat(): expected a non-empty list of tensors")
    check_dimensions(tensors)
    first = first_joined(tensors)
    if first is None:      # along whatever dimension
        return fresh_beside(tensors[0], common_type(tensors), (0,))
    axis = wrap_dim(dim, cnp.PyArray_NDIM(first))
    memcpy(sizes, cnp.PyArray_DIMS(first), cnp.PyArray_NDIM(first) * sizeof(npy_intp))
    sizes[axis] = 0
    for tensor in tensors:
        if not fits_everywhere(tensor):
            check_sizes(first, tensor, axis, tensors)
            sizes[axis] += cnp.PyArray_DIM(tensor, axis)
    result = fresh_of_sizes(first, common_type(tensors), cnp.PyArray_NDIM(first), sizes)
    for tensor in tensors:
        if not fits_everywhere(tensor):
            if not copy_rows(result, tensor, axis, start):
                put(part(result, axis, start, cnp.PyArray_DIM(tensor, axis)), tensor)
            start += cnp.PyArray_DIM(tensor, axis)
    return result


cdef bint fits_everywhere(cnp.ndarray tensor) noexcept:
    return cnp.PyArray_NDIM(tensor) == 1 and cnp.PyArray_DIM(tensor, 0) == 0


cdef object first_joined(list tensors):
    """The first tensor that is not of size (0,)."""
    for tensor in tensors:
        if not fits_everywhere(tensor):
            return tensor
    return None


cdef bint copy_rows(cnp.ndarray result, cnp.ndarray tensor, int axis, npy_intp start) noexcept:
    """Copy a small tensor to its place along an axis; False where that is left to `put`.

    With a tensor of one dimension less than the result, the place is one slice.
    """
    cdef npy_intp rows = 1, length, step, row
    cdef int dim
    cdef char *target = cnp.PyArray_BYTES(result)
    cdef char *source = cnp.PyArray_BYTES(tensor)
    if cnp.PyArray_NBYTES(tensor) > SMALL or cnp.PyArray_NBYTES(tensor) == 0 or is_meta(<PyObject *>result):
        return False
    if cnp.PyArray_TYPE(result) != cnp.PyArray_TYPE(tensor) or not cnp.PyArray_IS_C_CONTIGUOUS(tensor):
        return False
    for dim in range(axis):
        rows *= cnp.PyArray_DIM(result, dim)
    length = cnp.PyArray_NBYTES(tensor) // rows
    step = cnp.PyArray_NBYTES(result) // rows
    target += start * cnp.PyArray_STRIDE(result, axis)
    for row in range(rows):
        copy_few(target + row * step, source + row * length, length)
    return True


cdef int put(object place, object values) except -1:
    if cnp.PyArray_SIZE(place):
        copy_into(<PyObject *>place, <PyObject *>values)
    return 0


cdef int check_dimensions(list tensors) except -1:
    for tensor in tensors:
        if cnp.PyArray_NDIM(tensor) == 0:
            raise RuntimeError(
                f"cat(): zero-dimensional tensor (at position {position_of(tensor, tensors)}) cannot be concatenated"
            )
    return 0


cdef int check_sizes(object first, object tensor, int axis, list tensors) except -1:
    cdef int i
    if cnp.PyArray_NDIM(first) != cnp.PyArray_NDIM(tensor):
        raise RuntimeError(
            f"cat(): tensors must have the same number of dimensions, but sizes {list(first.shape)} and "
            f"{list(tensor.shape)} (at position {position_of(tensor, tensors)}) differ"
        )
    for i in range(cnp.PyArray_NDIM(first)):
        if i != axis and cnp.PyArray_DIM(first, i) != cnp.PyArray_DIM(tensor, i):
            raise RuntimeError(
                f"cat(): sizes of tensors must match except in dimension {axis}. Expected {first.shape[i]} in "
                f"dimension {i} but got {tensor.shape[i]} for tensor number {position_of(tensor, tensors)}: "
                f"{list(first.shape)} and {list(tensor.shape)}"
            )
    return 0


cdef object position_of(object tensor, list tensors):
    return [position for position, one in enumerate(tensors) if one is tensor][0]


cpdef object stack_of(list tensors, Py_ssize_t dim):
    """Join along a new axis."""
    cdef npy_intp sizes[MAX_DIMS]
    cdef npy_intp position = 0
    cdef int axis, ndim, dim_of_all
    if not tensors:
        raise RuntimeError("stack(): expected a non-empty list of tensors")
    ndim = cnp.PyArray_NDIM(tensors[0])
    if ndim == MAX_DIMS:
        raise RuntimeError(f"stack(): tensors have at most {MAX_DIMS} dimensions, and these have as many already")
    axis = wrap_dim(dim, ndim + 1)
    for tensor in tensors:
        check_equal_sizes(tensors[0], tensor, tensors)
    for dim_of_all in range(ndim + 1):
        if dim_of_all == axis:
            sizes[axis] = len(tensors)
        else:
            sizes[dim_of_all] = cnp.PyArray_DIM(tensors[0], dim_of_all - (dim_of_all > axis))
    result = fresh_of_sizes(tensors[0], common_type(tensors), ndim + 1, sizes)
    for tensor in tensors:
        if not copy_rows(result, tensor, axis, position):
            put(select_of(result, axis, position), tensor)
        position += 1
    return result


cdef int check_equal_sizes(object first, object tensor, list tensors) except -1:
    if not cnp.PyArray_SAMESHAPE(first, tensor):
        raise RuntimeError(
            f"stack(): expected tensors of equal size, but got {list(first.shape)} at entry 0 and "
            f"{list(tensor.shape)} at entry {position_of(tensor, tensors)}"
        )
    return 0


cdef int common_type(list tensors) except -1:
    """Type number of the result."""
    cdef int type_number = cnp.PyArray_TYPE(tensors[0])
    for tensor in tensors:
        if cnp.PyArray_TYPE(tensor) != type_number:
            return reduce(promote_types, [t.dtype for t in tensors]).num
    return type_number


cdef object FORWARD = slice(None)
cdef object BACKWARD = slice(None, None, -1)


cpdef object flip_of(object a, object dims):
    """Copy with the order along axes reversed."""
    cdef int axes[MAX_DIMS]
    cdef int count = read_axes(dims, cnp.PyArray_NDIM(a), axes)
    cdef list parts = [FORWARD] * cnp.PyArray_NDIM(a)
    cdef int i
    if not parts or not count:      # a tensor without dimensions takes 0 for one
        return clone_of(a)
    for i in range(count):
        parts[axes[i]] = BACKWARD
    return clone_of(a[tuple(parts)])
