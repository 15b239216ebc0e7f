"""Dimensions as users give them, negative ones too, made axes from 0 to ndim - 1.

A tensor without dimensions accepts 0 and -1 for the one it could have.
"""


cdef int wrap_dim(Py_ssize_t dim, int ndim) except -1:
    """The axis that `dim` means among `ndim` of them."""
    cdef Py_ssize_t count = ndim if ndim else 1
    if -count <= dim < count:
        return <int>(dim + count if dim < 0 else dim)
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
    )


cdef int read_axes(object dim, int ndim, int *axes) except -1:
    """Write the axes of an int or a sequence of ints, each once, and give their number."""
    cdef int count = 0
    cdef int axis
    if isinstance(dim, int):
        axes[0] = wrap_dim(dim, ndim)
        return 1
    for one in dim:
        axis = wrap_dim(one, ndim)
        if is_reduced(axis, axes, count):
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        axes[count] = axis
        count += 1
    return count


cdef object wrapped_axes(object dim, int ndim):
    """Axes as kernels take them: an axis, a tuple, or None for all; no dimensions mean all of them."""
    cdef int axes[64]
    cdef int count, i
    if dim is None:
        return None
    count = read_axes(dim, ndim, axes)
    if count == 0 or ndim == 0:
        return None
    if count == 1:
        return axes[0]
    return tuple([axes[i] for i in range(count)])


cdef bint is_reduced(int axis, const int *axes, int count) noexcept:
    cdef int i
    for i in range(count):
        if axes[i] == axis:
            return True
    return False
