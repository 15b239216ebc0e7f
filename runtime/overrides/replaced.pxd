from cpython.ref cimport PyObject

cdef extern from "Python.h":
    ctypedef PyObject *(*PyCFunction)(PyObject *, PyObject *) noexcept
    ctypedef struct PyMethodDef:
        const char *ml_name
        PyCFunction ml_meth
        int ml_flags
        const char *ml_doc
    ctypedef struct PyCFunctionObject:
        PyMethodDef *m_ml
        PyObject *m_self
        PyObject *m_module

cdef class Replaced:
    cdef PyMethodDef definition
    cdef PyObject *own_self
    cdef object function        # owns the name and the docstring of `definition`
    cdef PyObject *replacement  # what users call; borrowed, since it holds this

    cdef object replace(self, object function, PyCFunction call)

# The replacement of a function that takes all its arguments as a tuple and a dict.
cdef object overridable(object function)
