cdef int wrap_dim(Py_ssize_t dim, int ndim) except -1
cdef int read_axes(object dim, int ndim, int *axes) except -1
cdef object wrapped_axes(object dim, int ndim)
cdef bint is_reduced(int axis, const int *axes, int count) noexcept
