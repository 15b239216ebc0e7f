"""Gradients of parts, added where they lie in a sum that is there already.

Note [Sums of parts]
The gradient of ``x[index]`` is zeros of the shape of ``x`` with a gradient in one place. Where gradients of ``x`` have
arrived before, it would be made only to be added to their sum: many times the work where a matrix is read row by row.
So the node adds its gradient to that place of the sum itself, and gives none. What an observer, a hook or anomaly mode
would see of it does not exist then, so that with any of these, and wherever the sum is recorded, the zeros are made.
(The sums are the same but for the sign of a zero: one that nothing is added to keeps it.) The sum of a leaf is its
`.grad`, or what waits for its accumulator in a run that was asked for it.
"""

from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.functions.view_index cimport add_at
from gradsmith.runtime.engine.graph_task cimport GraphTask, current_task, owns_scratch
from gradsmith.runtime.engine.graph_walk cimport accumulator_of, is_observed
from gradsmith.runtime.graph.node cimport Edge, LEAF_EDGE, NODE_LEAF, NODE_MANY, Node
from gradsmith.runtime.graph.tensor cimport TensorBase, TensorMeta
from gradsmith.runtime.history.accumulate_grad cimport add_part_to_grad
from gradsmith.runtime.history.input_buffer cimport is_owned, takes_part


cdef bint add_at_index(Node node, int edge, TensorBase grad, object shape, object index) except -1:
    """Add the gradient of a part to what has arrived along an edge; False, and nothing is done, where that cannot be.

    See Note [Sums of parts].
    """
    cdef GraphTask task = current_task()
    cdef PyObject **slot
    cdef Edge *to = &node.edges[edge]
    if task is None or task.node != <PyObject *>node or task.watched or task.checked or node.meta is not None:
        return False
    if grad is None or to.node == NULL:
        return False
    if to.input_nr == LEAF_EDGE and not task.pruned and accumulator_of(<TensorBase>to.node) == NULL:
        return add_part_to_grad(<TensorBase>to.node, grad, shape, index)
    slot = waiting_sum(task, to)
    if slot == NULL or slot[0] == NULL or not is_owned(slot[0]) or not takes_part(<TensorBase>slot[0], grad, shape):
        return False
    return add_at(<object>(<TensorBase>slot[0]).array, <object>grad.array, index)


cdef bint is_first(Node node, int edge) except -1:
    """Has no gradient arrived yet where an edge leads?"""
    cdef GraphTask task = current_task()
    cdef Edge *to = &node.edges[edge]
    cdef PyObject **slot
    if task is None or task.node != <PyObject *>node:
        return False
    if to.input_nr == LEAF_EDGE and not task.pruned and accumulator_of(<TensorBase>to.node) == NULL:
        return not has_grad(<TensorBase>to.node)
    slot = waiting_sum(task, to)
    return slot != NULL and slot[0] == NULL


cdef inline bint has_grad(TensorBase leaf) noexcept:
    return leaf.meta is not None and (<TensorMeta>leaf.meta).grad is not None


cdef PyObject **waiting_sum(GraphTask task, Edge *to) except? NULL:
    """Where the gradients that come along an edge wait for the node to run; NULL where they do not."""
    cdef PyObject *target = to.node
    if to.input_nr == LEAF_EDGE:
        target = accumulator_of(<TensorBase>to.node)
    if target == NULL or not owns_scratch(task, target):
        return NULL
    if (<Node>target).flags & NODE_LEAF and (not task.pruned or is_observed(target)):
        return NULL
    if (<Node>target).flags & NODE_MANY:
        return &(<Node>target).incoming.outputs[to.input_nr].buffer
    return &(<Node>target).incoming.buffer
