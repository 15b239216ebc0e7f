"""Values that a function read outside of its arguments, and where it found them."""
from cpython.object cimport PyObject_GenericGetAttr, PyTypeObject
from cpython.ref cimport PyObject
cimport numpy as cnp

from collections import deque
from math import copysign

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    PyObject *PyCell_GET(object cell) noexcept
    PyObject *PyDict_GetItem(object d, object key) noexcept
    PyObject *_PyType_Lookup(PyTypeObject *cls, object name) noexcept
    bint PyCell_Check(object value) noexcept
    bint PyAnySet_Check(object value) noexcept

cdef extern from "string.h" nogil:
    int memcmp(const void *one, const void *other, size_t count) noexcept

MISSING = object()   # read where nothing was
LENGTH = object()    # the name by which the length of a list or dict is read
CONTENTS = object()  # the same of all that an array, a set or a deque holds

cdef object NUMBERS_AND_STRINGS = (bool, int, float, complex, str, bytes)


cdef class Read:
    """A value, and where the function read it.

    Parameters
    ----------
    holder : object
        A dict, list, cell, or class, whose bases are searched too; an object with slots; an array, set or deque.
    name : object
        Key, place or attribute; `LENGTH` or `CONTENTS` for what holds others.
    value : object
        What was there, or `MISSING`; of contents a copy.
    """

    def __init__(self, holder, name, value):
        self.holder, self.name, self.value = holder, name, value

    cpdef bint is_there(self) except -1:
        """Is the very same object there, or an equal number or string?"""
        cdef PyObject *found
        if isinstance(self.holder, dict):
            if self.name is LENGTH:
                return len(<dict>self.holder) == self.value
            found = PyDict_GetItem(self.holder, self.name)
        elif isinstance(self.holder, list):
            if self.name is LENGTH:
                return len(<list>self.holder) == self.value
            found = <PyObject *>(<list>self.holder)[self.name] if self.name < len(<list>self.holder) else NULL
        elif PyCell_Check(self.holder):
            found = PyCell_GET(self.holder)
        elif self.name is CONTENTS:
            return holds_the_same(self.holder, self.value)
        elif isinstance(self.holder, type):
            found = _PyType_Lookup(<PyTypeObject *>self.holder, self.name)
        else:
            return is_as_it_was(attribute_of(self.holder, self.name), self.value)
        return is_as_it_was(MISSING if found == NULL else <object>found, self.value)


cdef object attribute_of(object holder, object name):
    try:
        return PyObject_GenericGetAttr(holder, name)
    except AttributeError:
        return MISSING


cdef bint holds_the_same(object holder, object copy) except -1:
    if isinstance(holder, cnp.ndarray):
        return has_the_same_bits(holder, copy)
    if PyAnySet_Check(holder):
        return holder == copy and members(holder) == members(copy)
    return len(holder) == len(copy) and all([is_as_it_was(one, other) for one, other in zip(holder, copy)])


cdef set members(object holder):
    """With their types: 1, 1.0 and True are equal."""
    return {(type(one), one) for one in holder}


cdef bint has_the_same_bits(cnp.ndarray array, cnp.ndarray copy) except -1:
    """As `copy`, which lies row by row, had when it was made."""
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        array = np.ascontiguousarray(array)
    if array.dtype != copy.dtype or (<object>array).shape != (<object>copy).shape:
        return False
    return memcmp(cnp.PyArray_DATA(array), cnp.PyArray_DATA(copy), cnp.PyArray_NBYTES(copy)) == 0


cdef bint is_as_it_was(object found, object value) except -1:
    """The same object, or an equal number or string, or a tuple of such; zeros of floats have signs."""
    if found is value:
        return True
    if type(found) is not type(value):
        return False
    if type(value) is float:
        return found == value and (value != 0.0 or copysign(1.0, found) == copysign(1.0, value))
    if type(value) is complex:
        return repr(found) == repr(value)
    if type(value) in NUMBERS_AND_STRINGS:
        return found == value
    if type(value) is tuple:
        return len(<tuple>found) == len(<tuple>value) and all([is_as_it_was(a, b) for a, b in zip(found, value)])
    if isinstance(value, (np.generic, np.dtype, slice, range)):
        return repr(found) == repr(value)
    return False
