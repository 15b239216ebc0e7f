cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS

cdef struct Layout:
    int ndim
    npy_intp sizes[MAX_DIMS]
    npy_intp strides[MAX_DIMS]  # in bytes

# Array of a layout over the memory of `a`, `offset` bytes after its first element.
cdef object view_at(cnp.ndarray a, Layout *layout, npy_intp offset)
cdef void read_layout(cnp.ndarray a, Layout *layout) noexcept
cdef int push(Layout *layout, npy_intp size, npy_intp stride) except -1
cdef int require_array(cnp.ndarray a) except -1

cpdef object reshape_of(cnp.ndarray a, object shape)
cpdef object view_of(cnp.ndarray a, object size)
cpdef object view_dtype_of(cnp.ndarray a, cnp.dtype dtype)
cpdef object transpose_of(cnp.ndarray a, Py_ssize_t dim0, Py_ssize_t dim1)
cpdef object permute_of(cnp.ndarray a, object dims)
cpdef object t_of(cnp.ndarray a)
cpdef object T_of(cnp.ndarray a)
cpdef object mT_of(cnp.ndarray a)
cpdef object squeeze_of(cnp.ndarray a, object dim)
cpdef object unsqueeze_of(cnp.ndarray a, Py_ssize_t dim)
cpdef object restore_dims_of(cnp.ndarray a, int ndim, object dim, bint keepdim)
cpdef object expand_of(cnp.ndarray a, object size)
cpdef object select_of(cnp.ndarray a, Py_ssize_t dim, Py_ssize_t index)
cpdef object narrow_of(cnp.ndarray a, Py_ssize_t dim, Py_ssize_t start, Py_ssize_t length)
cpdef list split_of(cnp.ndarray a, object split_size, Py_ssize_t dim)
cpdef list unbind_of(cnp.ndarray a, Py_ssize_t dim)
cpdef object strided_view_of(cnp.ndarray a, object geometry)

cdef object part(cnp.ndarray a, int axis, npy_intp start, npy_intp length)


cdef inline int broadcast_dims(cnp.ndarray a, npy_intp *dims, int ndim) noexcept:
    """Broadcasts sizes, the innermost first, with those of an array; gives their number, or -1 where they do not fit."""
    cdef int own = cnp.PyArray_NDIM(a), i
    cdef npy_intp size
    for i in range(own):
        size = cnp.PyArray_DIM(a, own - 1 - i)
        if i >= ndim or dims[i] == 1:
            dims[i] = size
        elif size != 1 and size != dims[i]:
            return -1
    return max(own, ndim)


cdef inline tuple broadcast_sizes(cnp.ndarray a, cnp.ndarray b):
    """The shape that both broadcast to, or None."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int ndim = broadcast_dims(b, dims, broadcast_dims(a, dims, 0)), i
    return None if ndim < 0 else tuple([dims[ndim - 1 - i] for i in range(ndim)])
