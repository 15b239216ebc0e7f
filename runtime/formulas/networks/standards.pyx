"""Shapes over which elements are brought to mean zero and variance one, and what scales and shifts them then."""


cpdef object dims_of_shape(object op, object self, object shape, object weight, object bias):
    """The last dimensions, whose sizes are given; weight and bias have these sizes too."""
    shape = tuple(shape)
    if not shape:
        raise RuntimeError(f"{op}(): Expected normalized_shape to be at least 1-dimensional, but got []")
    if len(shape) > self.ndim or tuple(self.shape[self.ndim - len(shape):]) != shape:
        raise RuntimeError(
            f"{op}(): Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of size {list(self.shape)}"
        )
    expect_shape(op, "weight", weight, shape)
    expect_shape(op, "bias", bias, shape)
    return tuple(range(-len(shape), 0))


cdef int expect_shape(object op, str name, object factor, tuple shape) except -1:
    if factor is not None and tuple(factor.shape) != shape:
        raise RuntimeError(
            f"{op}(): Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
            f"{list(factor.shape)} and normalized_shape = {list(shape)}"
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
