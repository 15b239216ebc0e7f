"""C functions that replace those of a module, to look for overrides or to translate keywords first.

Python calls a function of C by its method definition and hands over its `__self__`. Here that is an object that has what
is called.
"""
from cpython.exc cimport PyErr_ExceptionMatches, PyErr_Fetch, PyErr_Restore
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject

import importlib
import sys
from types import ModuleType

from gradsmith.runtime.overrides.dispatch cimport dispatched_packed, is_overridden_packed, overriding, start

cdef extern from "Python.h":
    object PyCFunction_NewEx(PyMethodDef *, object, object)

ctypedef PyObject *(*packed_call)(PyObject *, PyObject *, PyObject *) noexcept


cdef class Replaced:
    """A function of a module, and its replacement."""

    cdef object replace(self, object function, PyCFunction call):
        cdef PyCFunctionObject *own = <PyCFunctionObject *>function
        self.function = function
        self.definition = own.m_ml[0]
        self.definition.ml_meth = call
        self.own_self = own.m_self
        made = PyCFunction_NewEx(&self.definition, self, function.__module__)
        self.replacement = <PyObject *>made
        return made

    def __reduce__(self):
        # A function of C is pickled as an attribute of its `__self__`. Modules of loaded tables, which no process can
        # import by their names, know better how they are found.
        module = sys.modules.get(self.function.__module__)
        if module is None or type(module) is ModuleType:
            return importlib.import_module, (self.function.__module__,)
        return module.__reduce__()


cdef class Packed(Replaced):
    """One that takes its arguments as a tuple and a dict."""
    cdef packed_call own_call


cdef object overridable(object function):
    cdef Packed p = Packed.__new__(Packed)
    p.own_call = <packed_call><void *>(<PyCFunctionObject *>function).m_ml.ml_meth
    return p.replace(function, <PyCFunction><void *>call)


cdef PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs) except NULL:
    cdef Packed p = <Packed>self
    if overriding and is_overridden_packed(args, kwargs):
        return dispatch_call(p, args, kwargs)
    cdef PyObject *result = p.own_call(p.own_self, args, kwargs)
    if result == NULL and not overriding and PyErr_ExceptionMatches(TypeError):
        return call_that_failed(p, args, kwargs)
    return result


cdef PyObject *call_that_failed(Packed p, PyObject *args, PyObject *kwargs) except NULL:
    """The result of an override by the class of an argument, or the error."""
    cdef PyObject *error
    cdef PyObject *value
    cdef PyObject *traceback
    PyErr_Fetch(&error, &value, &traceback)
    if not is_overridden_packed(args, kwargs):
        PyErr_Restore(error, value, traceback)
        return NULL
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(traceback)
    start()
    return dispatch_call(p, args, kwargs)


cdef PyObject *dispatch_call(Packed p, PyObject *args, PyObject *kwargs) except NULL:
    result = dispatched_packed(<object>p.replacement, args, kwargs)
    Py_INCREF(result)
    return <PyObject *>result
