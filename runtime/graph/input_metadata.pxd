from cpython.ref cimport PyObject
from libc.stdint cimport int16_t, uint32_t
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.graph.tensor cimport TensorBase


cdef enum:
    INLINE_DIMS = 3
    ANY_DTYPE = -2

cdef enum DeviceNumber:         # place in runtime/arrays/device.py, TYPES
    CPU = 0
    META = 1
    DEVICE_COUNT = 2

cdef union Shape:
    npy_intp few[INLINE_DIMS]
    npy_intp *many              # owned: more dimensions than that

# Shape, dtype and device that a gradient coming in at some place must have.
cdef struct InputMetadata:
    int16_t type_number         # NumPy type number, -1 while unset, ANY_DTYPE where each will do
    int16_t ndim
    uint32_t device             # a DeviceNumber
    Shape shape


cdef int set_metadata(InputMetadata *metadata, PyObject *array) except -1   # of which nothing is set yet
cdef void free_metadata(InputMetadata *metadata) noexcept                   # nothing is set afterwards
cdef inline npy_intp *metadata_shape(InputMetadata *metadata) noexcept:
    if metadata.ndim <= INLINE_DIMS:
        return metadata.shape.few
    return metadata.shape.many
cdef tuple metadata_shape_tuple(InputMetadata *metadata)
cdef object metadata_dtype(InputMetadata *metadata)         # None for ANY_DTYPE
cdef object zeros_for(InputMetadata *metadata)
cdef object describe_metadata(InputMetadata *metadata)
cdef DeviceNumber device_of_array(PyObject *array) noexcept


# ---- comparison

cdef inline bint same_dims(const npy_intp *a, const npy_intp *b, int ndim) noexcept:
    # Too short for a call of memcmp to pay.
    cdef int i
    for i in range(ndim):
        if a[i] != b[i]:
            return False
    return True


cdef inline bint fits(InputMetadata *metadata, PyObject *grad) noexcept:
    """Same dtype and shape as the value it is the gradient of."""
    cdef PyObject *array = (<TensorBase>grad).array
    if metadata.type_number < 0:
        return metadata.type_number != ANY_DTYPE
    if cnp.PyArray_TYPE(<cnp.ndarray>array) != metadata.type_number:
        return False
    if cnp.PyArray_NDIM(<cnp.ndarray>array) != metadata.ndim:
        return False
    return same_dims(metadata_shape(metadata), cnp.PyArray_DIMS(<cnp.ndarray>array), metadata.ndim)


cdef inline bint same_kind(PyObject *a, PyObject *b) noexcept:
    """Same dtype and shape."""
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>a)
    if cnp.PyArray_TYPE(<cnp.ndarray>a) != cnp.PyArray_TYPE(<cnp.ndarray>b) or ndim != cnp.PyArray_NDIM(<cnp.ndarray>b):
        return False
    return same_dims(cnp.PyArray_DIMS(<cnp.ndarray>a), cnp.PyArray_DIMS(<cnp.ndarray>b), ndim)
