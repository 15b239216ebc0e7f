"""Kernels give owned references; Cython wants objects."""

from cpython.ref cimport PyObject

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


cdef inline object take(PyObject *reference):
    """The object behind an owned reference."""
    result = <object>reference
    Py_DECREF_pointer(reference)
    return result
