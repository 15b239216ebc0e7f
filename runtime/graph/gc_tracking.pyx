"""Nodes and tensors that the cyclic collector sees.

Note [Collected late]
A million live nodes cost several times more when the cyclic collector walks over them, so a node (and a tensor) is
born outside the collector, although it has room for its header. A user's object can close a cycle: a hook, or
something in `metadata`. From the time on when one is attached, what leads to the node must be known to the collector:

    tensor --> node --> node --> node with a hook --> hook --> ... --> tensor

So it holds that *whatever refers to a tracked node or tensor is tracked*. A node recorded on top of a tracked one is
tracked as it is made. For what was made before, there is no way from a node to those that lead to it; where any may
be there, everything alive is tracked at once (untracked.h keeps a register). It costs what one pass of the collector
costs, and nothing of what is alive then has to be looked at for the next hook. A hook that is set right after its
tensor was computed does not need it.

One cycle is made by the engine itself: ``y[0].mul_(y[1])`` saves a view of what it writes, so that the node leads to y
and y to the node. What is on the way is tracked then, and nothing else: others that refer to it keep it alive.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from gradsmith.runtime.graph.node cimport (
    LEAF_EDGE,
    NODE_LEAF,
    NODE_SHOWN,
    NODE_TRACKED,
    Node,
    newest_sequence_nr,
    visit_nodes,
)
from gradsmith.runtime.graph.tensor cimport HAS_HOOKS, IS_SHARED, TensorBase, visit_tensors

cdef extern from "Python.h":
    void PyObject_GC_Track(void *)
    int PyObject_GC_IsTracked(object)
    int PyObject_GC_IsTracked_pointer "PyObject_GC_IsTracked"(PyObject *)

cdef uint64_t everything_until = 0      # the newest node when everything was tracked last


cdef void track(object thing) noexcept:
    if isinstance(thing, Node):
        (<Node>thing).flags |= NODE_TRACKED
    if not PyObject_GC_IsTracked(thing):
        PyObject_GC_Track(<void *>thing)
        if isinstance(thing, TensorBase) and (<TensorBase>thing).flags & IS_SHARED:
            track_everything()


cdef void track_cycle(object thing) noexcept:
    if isinstance(thing, Node):
        (<Node>thing).flags |= NODE_TRACKED
    if not PyObject_GC_IsTracked(thing):
        PyObject_GC_Track(<void *>thing)


cdef void track_for_gc(object thing) noexcept:
    if isinstance(thing, Node):
        if not is_covered(<Node>thing):
            track_everything()
    elif not (<TensorBase>thing).flags & HAS_HOOKS and everything_until != newest_sequence_nr():
        track_everything()
    track(thing)


cdef bint is_covered(Node node) noexcept:
    """Is all that refers to the node tracked, or will be once the node is?"""
    if node.flags & NODE_TRACKED:
        return True
    if node.sequence_nr == 0:
        return not node.flags & NODE_LEAF       # the context of a Function that is not recorded
    # Nothing was recorded since; its only tensor is tracked where somebody has asked that for its node.
    return node.sequence_nr == newest_sequence_nr() and node.n_outputs == 1 and node.flags & NODE_SHOWN != 0


def track_everything():
    """Let the collector see all nodes, and all tensors that lead anywhere."""
    global everything_until
    everything_until = newest_sequence_nr()
    visit_nodes(track_node)
    visit_tensors(track_tensor)


cdef void track_node(PyObject *node) noexcept:
    cdef int i
    (<Node>node).flags |= NODE_TRACKED
    if not PyObject_GC_IsTracked_pointer(node):
        PyObject_GC_Track(node)
    for i in range((<Node>node).n_edges):
        if (<Node>node).edges[i].node != NULL and (<Node>node).edges[i].input_nr != LEAF_EDGE:
            (<Node>(<Node>node).edges[i].node).flags |= NODE_TRACKED       # that of a Function is tracked by Python


cdef void track_tensor(PyObject *tensor) noexcept:
    cdef PyObject *grad_fn = (<TensorBase>tensor).grad_fn
    if grad_fn != NULL:
        (<Node>grad_fn).flags |= NODE_TRACKED
    elif (<TensorBase>tensor).base == NULL and (<TensorBase>tensor).meta is None:
        return
    if not PyObject_GC_IsTracked_pointer(tensor):
        PyObject_GC_Track(tensor)
