"""Metadata that an incoming gradient must match: shape, dtype and device of the value it belongs to."""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport PyObject
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport is_on_meta

from typing import NamedTuple

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.device import ALL as DEVICES

cnp.import_array()


cdef int set_metadata(InputMetadata *metadata, PyObject *array) except -1:
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>array)
    metadata.type_number = cnp.PyArray_TYPE(<cnp.ndarray>array)
    # Stand-ins for data that is elsewhere are read-only, and few other arrays are.
    metadata.device = CPU if cnp.PyArray_ISWRITEABLE(<cnp.ndarray>array) else device_of_array(array)
    if ndim > INLINE_DIMS:
        metadata.shape.many = <npy_intp *>PyMem_Malloc(ndim * sizeof(npy_intp))
        if metadata.shape.many == NULL:
            raise MemoryError()
    metadata.ndim = ndim
    if ndim:
        memcpy(metadata_shape(metadata), cnp.PyArray_DIMS(<cnp.ndarray>array), ndim * sizeof(npy_intp))
    return 0


cdef void free_metadata(InputMetadata *metadata) noexcept:
    if metadata.ndim > INLINE_DIMS:
        PyMem_Free(metadata.shape.many)
    metadata.ndim = 0


cdef DeviceNumber device_of_array(PyObject *array) noexcept:
    return META if is_on_meta(array) else CPU


cdef object zeros_for(InputMetadata *metadata):
    """An array of what the metadata says."""
    make = array_without_data if metadata.device == META else np.zeros
    return make(metadata_shape_tuple(metadata), metadata_dtype(metadata))


cdef tuple metadata_shape_tuple(InputMetadata *metadata):
    cdef npy_intp *shape = metadata_shape(metadata)
    return tuple([shape[i] for i in range(metadata.ndim)])


cdef object metadata_dtype(InputMetadata *metadata):
    return None if metadata.type_number < 0 else <object>cnp.PyArray_DescrFromType(metadata.type_number)


# ---- for people

class GradientMetadata(NamedTuple):
    """Metadata that an incoming gradient of a node must match."""

    shape: tuple
    dtype: np.dtype
    device: object
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


cdef object describe_metadata(InputMetadata *metadata):
    return GradientMetadata(metadata_shape_tuple(metadata), metadata_dtype(metadata), DEVICES[metadata.device])
