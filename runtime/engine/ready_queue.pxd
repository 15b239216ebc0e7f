"""Nodes with a gradient waiting, latest first: a binary heap by sequence number.

A run has one queue per device. See engine.pyx, Note [A queue per device].
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from gradsmith.runtime.graph.node cimport Node


cdef enum:
    INLINE_NODES = 16

cdef struct ReadyQueue:
    PyObject **nodes                        # borrowed: the roots of the run keep them alive
    Py_ssize_t count, capacity
    PyObject *inline_nodes[INLINE_NODES]    # what `nodes` leads to while they suffice


cdef void open_queue(ReadyQueue *queue) noexcept        # it must not move in memory afterwards
cdef void close_queue(ReadyQueue *queue) noexcept
cdef bint grow(ReadyQueue *queue) noexcept


cdef inline uint64_t number_of(PyObject *node) noexcept:
    return (<Node>node).sequence_nr


cdef inline bint push(ReadyQueue *queue, PyObject *node) noexcept:
    """False when there is no memory for one more."""
    cdef Py_ssize_t child = queue.count, parent
    cdef uint64_t number = number_of(node)
    if child == queue.capacity and not grow(queue):
        return False
    queue.count += 1
    while child > 0:
        parent = (child - 1) >> 1
        if number_of(queue.nodes[parent]) >= number:
            break
        queue.nodes[child] = queue.nodes[parent]
        child = parent
    queue.nodes[child] = node
    return True


cdef inline PyObject *pop(ReadyQueue *queue) noexcept:
    """The latest of a queue that is not empty."""
    cdef PyObject **nodes = queue.nodes
    cdef PyObject *top = nodes[0]
    cdef PyObject *last
    cdef Py_ssize_t parent = 0, child, count
    cdef uint64_t number
    queue.count -= 1
    count = queue.count
    if count == 0:
        return top
    last = nodes[count]
    number = number_of(last)
    while True:
        child = 2 * parent + 1
        if child >= count:
            break
        if child + 1 < count and number_of(nodes[child + 1]) > number_of(nodes[child]):
            child += 1
        if number_of(nodes[child]) <= number:
            break
        nodes[parent] = nodes[child]
        parent = child
    nodes[parent] = last
    return top
