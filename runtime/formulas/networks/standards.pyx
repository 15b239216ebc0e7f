"""Shapes over which elements are brought to mean zero and variance one, and what scales and shifts them then."""
cimport numpy as cnp

from gradsmith.runtime.graph.tensor cimport TensorBase

cnp.import_array()

cdef tuple LAST_DIMS = ((-1,), (-2, -1), (-3, -2, -1))

cpdef object dims_of_shape(object op, object self, object shape, object weight, object bias):
    """The last dimensions, whose sizes are given; weight and bias have these sizes too."""
    cdef Py_ssize_t n = len(shape)
    if not n:
        raise RuntimeError(f"{op}(): Expected normalized_shape to be at least 1-dimensional, but got []")
    if not ends_with(self, shape):
        raise RuntimeError(
            f"{op}(): Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of size {list(self.shape)}"
        )
    expect_shape(op, "weight", weight, shape)
    expect_shape(op, "bias", bias, shape)
    return LAST_DIMS[n - 1] if n <= len(LAST_DIMS) else tuple(range(-n, 0))


cdef bint ends_with(TensorBase t, object shape) except -1:
    cdef cnp.ndarray array = <cnp.ndarray>t.array
    cdef Py_ssize_t place, n = len(shape), skipped = cnp.PyArray_NDIM(array) - n
    if skipped < 0:
        return False
    for place in range(n):
        if cnp.PyArray_DIM(array, skipped + place) != shape[place]:
            return False
    return True


cdef int expect_shape(object op, str name, TensorBase factor, object shape) except -1:
    if factor is not None and not (cnp.PyArray_NDIM(<cnp.ndarray>factor.array) == len(shape) and ends_with(factor, shape)):
        raise RuntimeError(
            f"{op}(): Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
            f"{list((<object>factor).shape)} and normalized_shape = {list(shape)}"
        )
    return 0


cpdef object for_groups(object name, object factor, object shape, object groups):
    """A number for each channel, in a shape that broadcasts with what `group_parts` makes of the images."""
    if factor is None:
        return None
    if len(shape) < 2 or tuple(factor.shape) != (shape[1],):
        raise RuntimeError(
            f"group_norm(): Expected {name} to be a vector of size equal to the number of channels in input, but got "
            f"{name} of shape {list(factor.shape)} and input of shape {list(shape)}"
        )
    return factor.reshape((groups, shape[1] // groups, 1))


cpdef object group_parts(object shape, object groups):
    """(images, groups, channels of one, elements of a channel)"""
    if len(shape) < 2:
        raise RuntimeError(f"group_norm(): Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if groups < 1:
        raise RuntimeError(f"group_norm(): Expected num groups to be greater than 0, got {groups}")
    images, channels = shape[:2]
    if channels % groups:
        raise RuntimeError(
            "group_norm(): Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={groups}"
        )
    cdef Py_ssize_t elements = 1
    for size in shape[2:]:
        elements *= size
    return (images, groups, channels // groups, elements)
