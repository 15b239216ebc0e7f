"""Memory ranges of arrays, and arrays over a part of one.

NumPy's own ways to both, `__array_interface__` and the buffer argument of `numpy.ndarray`, crash where memory is short.
"""
from cpython.object cimport PyTypeObject
from cpython.pycapsule cimport PyCapsule_IsValid
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    PyTypeObject PyArray_Type
    object PyArray_NewFromDescr(
        PyTypeObject *, cnp.dtype, int, cnp.npy_intp *, cnp.npy_intp *, void *, int, PyObject *
    )


def address_of(cnp.ndarray array not None):
    """Of the first element."""
    return <size_t>cnp.PyArray_DATA(array)


def array_over(cnp.ndarray memory not None, cnp.dtype dtype not None, tuple shape, tuple strides, Py_ssize_t offset):
    """An array that shows `memory` from `offset` bytes after its first element on. Whether it reaches beyond is unchecked."""
    cdef cnp.npy_intp sizes[cnp.NPY_MAXDIMS]
    cdef cnp.npy_intp steps[cnp.NPY_MAXDIMS]
    cdef char *start = <char *>cnp.PyArray_DATA(memory) + offset
    cdef int i
    for i in range(len(shape)):
        sizes[i] = shape[i]
        steps[i] = strides[i]
    Py_INCREF(dtype)        # the array takes the reference
    array = PyArray_NewFromDescr(&PyArray_Type, dtype, len(shape), sizes, steps, start, cnp.NPY_ARRAY_WRITEABLE, NULL)
    cnp.PyArray_UpdateFlags(array, cnp.NPY_ARRAY_UPDATE_ALL)
    cnp.set_array_base(array, memory)
    return array


def is_capsule(object value, bytes name not None):
    """Is it a capsule of this name that nobody has consumed?"""
    return bool(PyCapsule_IsValid(value, name))
