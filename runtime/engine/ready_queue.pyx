"""The parts of a queue that run seldom; what runs once per node is in ready_queue.pxd."""
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject
from libc.string cimport memcpy


cdef void open_queue(ReadyQueue *queue) noexcept:
    queue.nodes = queue.inline_nodes
    queue.count = 0
    queue.capacity = INLINE_NODES


cdef void close_queue(ReadyQueue *queue) noexcept:
    if queue.nodes != queue.inline_nodes:
        PyMem_Free(queue.nodes)


cdef bint grow(ReadyQueue *queue) noexcept:
    cdef Py_ssize_t capacity = 4 * queue.capacity
    cdef bint was_inline = queue.nodes == queue.inline_nodes
    cdef PyObject **nodes = <PyObject **>PyMem_Realloc(NULL if was_inline else queue.nodes, capacity * sizeof(PyObject *))
    if nodes == NULL:
        return False
    if was_inline:
        memcpy(nodes, queue.inline_nodes, sizeof(queue.inline_nodes))
    queue.nodes = nodes
    queue.capacity = capacity
    return True
