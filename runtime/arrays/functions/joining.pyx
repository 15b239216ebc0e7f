"""Arrays made of several arrays, or of one in another order."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport copy_into
from gradsmith.runtime.arrays.functions.normalize cimport read_axes, wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_beside
from gradsmith.runtime.arrays.functions.pointwise cimport clone_of
from gradsmith.runtime.arrays.functions.shapes cimport part, select_of

from functools import reduce

import numpy as np

from gradsmith.runtime.arrays.dtypes import promote_types

cnp.import_array()


cpdef object cat_of(list tensors, Py_ssize_t dim):
    """Join along an axis; arrays of size (0,) fit everywhere, as in PyTorch."""
    cdef npy_intp total = 0
    cdef npy_intp start = 0
    cdef int axis
    if not tensors:
        raise ValueError("cat(): expected a non-empty list of tensors")
    check_dimensions(tensors)
    joined = [t for t in tensors if t.shape != (0,)]
    if not joined:      # along whatever dimension
        return fresh_beside(tensors[0], common_type(tensors), (0,))
    first = joined[0]
    axis = wrap_dim(dim, cnp.PyArray_NDIM(first))
    for tensor in joined:
        check_sizes(first, tensor, axis, tensors)
        total += cnp.PyArray_DIM(tensor, axis)
    result = fresh_beside(first, common_type(tensors), (*first.shape[:axis], total, *first.shape[axis + 1:]))
    for tensor in joined:
        put(part(result, axis, start, cnp.PyArray_DIM(tensor, axis)), tensor)
        start += cnp.PyArray_DIM(tensor, axis)
    return result


cdef int put(object place, object values) except -1:
    if cnp.PyArray_SIZE(place):
        copy_into(<PyObject *>place, <PyObject *>values)
    return 0


cdef int check_dimensions(list tensors) except -1:
    for position, tensor in enumerate(tensors):
        if cnp.PyArray_NDIM(tensor) == 0:
            raise RuntimeError(f"cat(): zero-dimensional tensor (at position {position}) cannot be concatenated")
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
    cdef npy_intp position = 0
    cdef int axis
    if not tensors:
        raise RuntimeError("stack(): expected a non-empty list of tensors")
    size = tensors[0].shape
    axis = wrap_dim(dim, cnp.PyArray_NDIM(tensors[0]) + 1)
    for tensor in tensors:
        if tensor.shape != size:
            raise RuntimeError(
                f"stack(): expected tensors of equal size, but got {list(size)} at entry 0 and {list(tensor.shape)} "
                f"at entry {position_of(tensor, tensors)}"
            )
    result = fresh_beside(tensors[0], common_type(tensors), (*size[:axis], len(tensors), *size[axis:]))
    for tensor in tensors:
        put(select_of(result, axis, position), tensor)
        position += 1
    return result


cdef int common_type(list tensors) except -1:
    """Type number of the result."""
    cdef int type_number = cnp.PyArray_TYPE(tensors[0])
    for tensor in tensors:
        if cnp.PyArray_TYPE(tensor) != type_number:
            return reduce(promote_types, [t.dtype for t in tensors]).num
    return type_number


cpdef object flip_of(object a, object dims):
    """Copy with the order along axes reversed."""
    cdef int axes[MAX_DIMS]
    cdef int count = read_axes(dims, cnp.PyArray_NDIM(a), axes)
    return clone_of(np.flip(a, [axes[i] for i in range(count)]) if cnp.PyArray_NDIM(a) else a)
