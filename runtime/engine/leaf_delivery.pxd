from cpython.ref cimport PyObject

from gradsmith.runtime.engine.graph_task cimport GraphTask
from gradsmith.runtime.engine.graph_walk cimport accumulator_of
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport HAS_HOOKS, TensorBase
from gradsmith.runtime.history.accumulate_grad cimport accumulate_grad, fits_leaf

cdef int send_to_watched_leaf(GraphTask task, Node node, int edge, TensorBase leaf, PyObject *grad) except -1
cdef int send_to_accumulator(GraphTask task, Node node, int edge, PyObject *accumulator, PyObject *grad) except -1
cdef int send_undefined_to_leaf(GraphTask task, Node node, int edge) except -1
cdef PyObject *conform_leaf_gradient(Node node, int edge, TensorBase leaf, PyObject *grad) except NULL


cdef inline int send_to_leaf(GraphTask task, Node node, int edge, TensorBase leaf, PyObject *grad) except -1:
    """See node.pxd, Note [Edges to leaves]."""
    if not fits_leaf(leaf, grad):
        grad = conform_leaf_gradient(node, edge, leaf, grad)
    if task.pruned or task.watched or leaf.flags & HAS_HOOKS or accumulator_of(leaf) != NULL:
        return send_to_watched_leaf(task, node, edge, leaf, grad)
    return accumulate_grad(leaf, grad)
