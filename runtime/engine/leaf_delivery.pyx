"""Gradients that arrive at leaves: stored at once, or kept until a leaf with hooks has all of them."""
from cpython.ref cimport PyObject
from libc.string cimport memset

from gradsmith.runtime.engine.graph_task cimport GraphTask, add_to_buffer, enqueue
from gradsmith.runtime.engine.graph_walk cimport (
    accumulator_of,
    count_waiting,
    is_last_edge,
    is_observed,
    lasting_accumulator,
)
from gradsmith.runtime.graph.input_metadata cimport InputMetadata, free_metadata
from gradsmith.runtime.graph.node cimport LEAF_EDGE, Node
from gradsmith.runtime.graph.tensor cimport HAS_HOOKS, TensorBase
from gradsmith.runtime.history.accumulate_grad cimport accumulate_grad, leaf_metadata, leaf_of
from gradsmith.runtime.history.observers cimport begin_node, end_node, watching
from gradsmith.runtime.history.validation cimport conform_gradient

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


cdef int send_to_watched_leaf(GraphTask task, Node node, int edge, TensorBase leaf, PyObject *grad) except -1:
    """To a leaf whose accumulator is seen, or will be."""
    cdef PyObject *accumulator
    try:
        accumulator = lasting_accumulator(task, leaf)
    except:
        Py_DECREF_pointer(grad)
        raise
    return send_to_accumulator(task, node, edge, accumulator, grad)


cdef PyObject *conform_leaf_gradient(Node node, int edge, TensorBase leaf, PyObject *grad) except NULL:
    cdef InputMetadata expected
    memset(&expected, 0, sizeof(InputMetadata))
    leaf_metadata(&expected, leaf)
    try:
        return conform_gradient(node, edge, &expected, grad)
    finally:
        free_metadata(&expected)


cdef int send_to_accumulator(GraphTask task, Node node, int edge, PyObject *accumulator, PyObject *grad) except -1:
    """A gradient for a leaf: stored at once where nobody sees its sum before."""
    if is_observed(accumulator):
        add_to_buffer(task, accumulator, 0, grad)
        return leaf_received(task, node, edge, accumulator)
    if task.pruned:
        add_to_buffer(task, accumulator, 0, grad)
        return enqueue(task, accumulator)
    if task.watched:
        return accumulate_watched(accumulator, grad)
    return accumulate_grad(leaf_of(accumulator), grad)


cdef int accumulate_watched(PyObject *accumulator, PyObject *grad) except -1:
    """Observers see it as a node, inside the one that the gradient comes from."""
    cdef int span
    try:
        span = begin_node(<Node>accumulator) if watching else 0
    except:
        Py_DECREF_pointer(grad)
        raise
    accumulate_grad(leaf_of(accumulator), grad)
    if span:
        end_node(span, <Node>accumulator)
    return 0


cdef int send_undefined_to_leaf(GraphTask task, Node node, int edge) except -1:
    """Nothing comes along an edge: a leaf with hooks has one gradient less to wait for."""
    cdef PyObject *target = node.edges[edge].node
    if node.edges[edge].input_nr == LEAF_EDGE:
        if not (<TensorBase>target).flags & HAS_HOOKS and accumulator_of(<TensorBase>target) == NULL:
            return 0
        target = lasting_accumulator(task, <TensorBase>target)
    return leaf_received(task, node, edge, target) if is_observed(target) else 0


cdef int leaf_received(GraphTask task, Node node, int edge, PyObject *accumulator) except -1:
    """Something has come along an edge to an observed leaf. See graph_walk.pyx, Note [When a leaf is ready]."""
    enqueue(task, accumulator)
    if not task.counted:
        count_waiting(task, node, edge)
    if is_last_edge(task, accumulator):
        task.ready.append(<object>accumulator)
    return 0
