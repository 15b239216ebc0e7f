"""Modules as they were: which tensors, modules and hooks they have, and whether they are being trained."""
from cpython.ref cimport PyObject

cdef extern from "Python.h":
    PyObject *PyDict_GetItem(object d, object key) noexcept
    Py_ssize_t PyDict_Size(object d) except -1
    bint PyDict_Next(object d, Py_ssize_t *position, PyObject **key, PyObject **value) noexcept

cdef tuple HELD = (
    "_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
)


cdef class Snapshot:
    """What a module and those inside of it hold, to be compared with what they hold later.

    It is compared at each call of a compiled function, and modules are read as the dicts that they are.
    """

    def __init__(self, module not None):
        self.modules, self.held = [], []
        self.add(module)

    cdef int add(self, object module) except -1:
        attributes = module.__dict__
        self.modules.append((attributes, attributes.get("training")))
        for name in HELD:
            self.held.append((attributes[name], tuple(attributes[name].values())))
        for child in attributes["_modules"].values():
            if child is not None:
                self.add(child)
        return 0

    cpdef bint is_there(self) except -1:
        """Do all modules hold the very same objects, and no others?"""
        cdef Py_ssize_t position, i
        cdef PyObject *key
        cdef PyObject *value
        cdef tuple values
        for attributes, training in self.modules:
            if PyDict_GetItem(attributes, "training") != <PyObject *>training:
                return False
        for members, values in self.held:
            if PyDict_Size(members) != len(values):
                return False
            position = i = 0
            while PyDict_Next(members, &position, &key, &value):
                if value != <PyObject *>values[i]:
                    return False
                i += 1
        return True
