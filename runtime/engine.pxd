from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t


cdef enum:
    INLINE_HEAP = 16


cdef class GraphTask:
    cdef uint64_t id
    cdef bint keep_graph
    cdef bint pruned                # only what leads to the requested inputs runs; marks are in Node.state
    # None until used:
    cdef dict captures              # address of a node -> list of (input number, position in `results`)
    cdef list results
    cdef list alive                 # nodes of requested inputs: a leaf's accumulator lives only while a graph holds it
    cdef dict foreign               # address of a node -> ForeignScratch; see Note [Scratch in nodes]

    cdef PyObject **heap            # nodes with a gradient waiting, latest first; borrowed, the roots keep them alive
    cdef Py_ssize_t heap_count, heap_capacity
    cdef PyObject *inline_heap[INLINE_HEAP]
