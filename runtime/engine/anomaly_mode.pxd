from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node


cdef bint anomaly_enabled() noexcept
cdef int check_results(Node node, PyObject **results) except -1     # raises for a gradient that is no finite number
cdef int explain_error(Node node) except -1                         # warns: where the node was recorded
