"""NaN-safe mode: where the gradient that comes into an elementwise op is zero, the one that goes out is zero and not NaN.

While the mode is off a backward does nothing for it: tasks are told to check what nodes give, as in anomaly mode.
"""
from cpython.ref cimport Py_INCREF, PyObject

from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)

cdef bint enabled = False
# find(node, gradient) gives the places of zeros, or None; keep(zeros, result) gives the result with zeros there.
cdef object find = None, keep = None


cdef bint nan_safe_enabled() noexcept:
    return enabled


def is_nan_safe_enabled():
    """True while NaN-safe mode is on."""
    return enabled


def set_nan_safe_enabled(bint mode, object find_zeros, object keep_zeros):
    """Switch the mode on or off, in all threads."""
    global enabled, find, keep
    enabled, find, keep = mode, find_zeros, keep_zeros


cdef object zeros_of(Node node, PyObject **grads):
    """Where the incoming gradient is zero, before the node may compute in its memory; None for most nodes."""
    if node.n_outputs != 1 or grads[0] == NULL:
        return None
    return find(node, <TensorBase>grads[0])


cdef int keep_zeros(Node node, object zeros, PyObject **results) except -1:
    cdef int i
    for i in range(node.n_edges):
        if results[i] == NULL:
            continue
        kept = keep(zeros, <TensorBase>results[i])
        Py_INCREF(kept)
        Py_DECREF_pointer(results[i])
        results[i] = <PyObject *>kept
    return 0
