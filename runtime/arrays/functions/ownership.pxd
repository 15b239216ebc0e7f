"""Kernels give owned references, Cython wants objects; and results come from the cache of arrays."""

from cpython.ref cimport PyObject
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport empty_array, full_array, is_meta, meta_array

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)

cdef enum:
    MAX_DIMS = 64               # NumPy's own limit


cdef inline object take(PyObject *reference):
    """The object behind an owned reference."""
    result = <object>reference
    Py_DECREF_pointer(reference)
    return result


cdef inline int read_shape(object shape, npy_intp *dims) except -1:
    """Write the sizes and give their number."""
    cdef int ndim = 0
    if len(shape) > MAX_DIMS:
        raise RuntimeError(f"tensors have at most {MAX_DIMS} dimensions, but {len(shape)} sizes were given")
    for size in shape:
        if size < 0:
            raise RuntimeError(f"sizes must not be negative, but they are {list(shape)}")
        dims[ndim] = size
        ndim += 1
    return ndim


cdef inline object fresh(int type_number, tuple shape):
    """An uninitialised array. A big one costs no page faults when one of its size has died before."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int ndim = read_shape(shape, dims)
    return take(empty_array(type_number, ndim, dims))


cdef inline object fresh_beside(object model, int type_number, tuple shape):
    """The same where the data of `model` is: without data, what is written into it is lost."""
    cdef npy_intp dims[MAX_DIMS]
    if not is_meta(<PyObject *>model):
        return fresh(type_number, shape)
    return take(meta_array(type_number, read_shape(shape, dims), dims))


cdef inline object fresh_of_sizes(object model, int type_number, int ndim, npy_intp *sizes):
    """The same, where the sizes are at hand."""
    if is_meta(<PyObject *>model):
        return take(meta_array(type_number, ndim, sizes))
    return take(empty_array(type_number, ndim, sizes))


cdef inline object fresh_zeros(int type_number, tuple shape):
    cdef npy_intp dims[MAX_DIMS]
    cdef int ndim = read_shape(shape, dims)
    return take(full_array(type_number, ndim, dims, 0))
