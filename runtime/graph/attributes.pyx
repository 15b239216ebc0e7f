"""Attributes that the user sets on a tensor.

They are in a dict that the tensor does not have until the first is set. Python finds it by its place in the tensor
(`tp_dictoffset`), so that looking up a method costs what it does without.

An attribute may refer back to the tensor, so the cyclic collector must see it: see gc_tracking.pyx, Note [Collected
late]. A number or a text leads nowhere. The first other value makes everything known that may lead to the tensor by
then; what is made later looks at HAS_ATTRIBUTES.
"""
from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.tensor cimport HAS_ATTRIBUTES, TensorBase

from gradsmith.runtime.graph.gc_tracking import track_everything

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object, object, object) except -1
    object PyObject_GenericGetDict(object, void *)
    int PyObject_GenericSetDict(object, object, void *) except -1
    int PyObject_IS_GC(object) noexcept


cdef int set_attribute(TensorBase t, object name, object value) except -1:
    PyObject_GenericSetAttr(t, name, value)
    if t.attributes != NULL and PyObject_IS_GC(value):
        expect_attached(t)
    return 0


cdef dict attributes_of(TensorBase t):
    expect_attached(t)      # who has the dict may put anything in
    return PyObject_GenericGetDict(t, NULL)


def attributes_if_any(TensorBase tensor not None):
    """The attributes of a tensor, for reading only; an empty dict when it has none."""
    return {} if tensor.attributes == NULL else <object>tensor.attributes


cdef int set_attributes(TensorBase t, object attributes) except -1:
    PyObject_GenericSetDict(t, attributes, NULL)
    expect_attached(t)
    return 0


cdef int expect_attached(TensorBase t) except -1:
    if t.flags & HAS_ATTRIBUTES:
        return 0
    t.flags |= HAS_ATTRIBUTES
    track(t)
    track_everything()
    return 0
