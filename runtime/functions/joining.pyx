"""Arrays made of several arrays, or of one in another order."""

from gradsmith.runtime.functions.normalize cimport read_axes, wrap_dim

from functools import reduce

import numpy as np

from gradsmith.runtime.dtypes import promote_types

cdef enum:
    MAX_DIMS = 64


cpdef object cat_of(list tensors, Py_ssize_t dim):
    """Join along an axis; arrays of size (0,) fit everywhere, as in PyTorch."""
    if not tensors:
        raise ValueError("cat(): expected a non-empty list of tensors")
    for position, tensor in enumerate(tensors):
        if tensor.ndim == 0:
            raise RuntimeError(f"cat(): zero-dimensional tensor (at position {position}) cannot be concatenated")
    cdef int axis
    joined = [t for t in tensors if t.shape != (0,)] or tensors[:1]
    axis = wrap_dim(dim, joined[0].ndim)
    check_sizes(tensors, joined, axis)
    return np.concatenate(joined, axis=axis, dtype=common_dtype(tensors))


cdef int check_sizes(list tensors, list joined, int axis) except -1:
    first = joined[0].shape
    for position, tensor in enumerate(tensors):
        if tensor.shape == (0,):
            continue
        if tensor.ndim != len(first):
            raise RuntimeError(
                f"cat(): tensors must have the same number of dimensions, but sizes {list(first)} and "
                f"{list(tensor.shape)} (at position {position}) differ"
            )
        for i, (expected, size) in enumerate(zip(first, tensor.shape)):
            if i != axis and expected != size:
                raise RuntimeError(
                    f"cat(): sizes of tensors must match except in dimension {axis}. Expected {expected} in dimension "
                    f"{i} but got {size} for tensor number {position}: {list(first)} and {list(tensor.shape)}"
                )
    return 0


cpdef object stack_of(list tensors, Py_ssize_t dim):
    """Join along a new axis."""
    if not tensors:
        raise RuntimeError("stack(): expected a non-empty list of tensors")
    first = tensors[0].shape
    cdef int axis = wrap_dim(dim, <int>len(first) + 1)
    for position, tensor in enumerate(tensors):
        if tensor.shape != first:
            raise RuntimeError(
                f"stack(): expected tensors of equal size, but got {list(first)} at entry 0 and {list(tensor.shape)} "
                f"at entry {position}"
            )
    return np.stack(tensors, axis=axis, dtype=common_dtype(tensors), casting="same_kind")


cdef object common_dtype(list tensors):
    dtype = tensors[0].dtype
    if all(t.dtype == dtype for t in tensors):
        return dtype
    return reduce(promote_types, (t.dtype for t in tensors))


cpdef object flip_of(object a, object dims):
    """Copy with the order along axes reversed."""
    cdef int axes[MAX_DIMS]
    cdef int count = read_axes(dims, a.ndim, axes)
    return np.flip(a, [axes[i] for i in range(count)]).copy() if a.ndim else a.copy()
