"""Shapes of tensors as programs see them: `Size`, a tuple with `numel()`. See size.h."""
from cpython.object cimport PyTypeObject
cimport numpy as cnp

cdef extern from "runtime/graph/size.h":
    object gs_ready_size()
    object gs_size_of(int ndim, const cnp.npy_intp *dims)

Size = gs_ready_size()
size_type = <PyTypeObject *>Size


cdef object size_of(object array):
    return gs_size_of(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
