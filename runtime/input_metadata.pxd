from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.node cimport ANY_DTYPE, DeviceNumber, InputMetadata, Node, metadata_shape
from gradsmith.runtime.tensor cimport TensorBase


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


# The gradient on the device it must be on: moved there when it is without dimensions, else an error. Consumes `grad`,
# gives a new reference.
cdef PyObject *on_device(Node node, int edge, DeviceNumber expected, PyObject *grad) except NULL

# Undo broadcasting and promotion; consumes `grad`, gives a new reference.
cdef PyObject *made_to_fit(Node node, int edge, InputMetadata *metadata, PyObject *grad) except NULL
