from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node


cdef bint nan_safe_enabled() noexcept
cdef object zeros_of(Node node, PyObject **grads)
cdef int keep_zeros(Node node, object zeros, PyObject **results) except -1
