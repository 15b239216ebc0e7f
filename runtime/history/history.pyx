"""Recording the history of a tensor: edges from a new node, and the node behind a result."""
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp

from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.input_metadata cimport set_metadata
from gradsmith.runtime.graph.node cimport (
    LEAF_EDGE,
    NODE_MANY,
    NODE_TRACKED,
    Node,
    metadata_of,
    release_reference,
)
from gradsmith.runtime.graph.node_meta cimport NodeMeta, node_meta
from gradsmith.runtime.graph.saved_variable cimport detach_saved_output
from gradsmith.runtime.graph.tensor cimport (
    HAS_ATTRIBUTES,
    HAS_HOOKS,
    IS_VIEW,
    REQUIRES_GRAD,
    SAVED_AS_OUTPUT,
    TensorBase,
    TensorMeta,
    meta_of,
    version_of,
)
from gradsmith.runtime.history.accumulate_grad cimport make_accumulator
from gradsmith.runtime.history.view cimport current_grad_fn
from gradsmith.runtime.switches.upcalls cimport accumulator_maker, c_upcalls

import weakref

cnp.import_array()

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)


# ---- who requires grad

cdef bint requires_grad(TensorBase t) noexcept:
    """Of the tensor alone, whatever the grad mode; a view may inherit it from its base."""
    cdef PyObject *owner = <PyObject *>t
    while not (<TensorBase>owner).flags & REQUIRES_GRAD:
        if not (<TensorBase>owner).flags & IS_VIEW:
            return False
        owner = (<TensorBase>owner).base
    return True


cdef bint requires_grad_list(object tensors) except -1:
    cdef TensorBase t
    for t in tensors or ():
        if requires_grad_1(t):
            return True
    return False


# ---- edges

cdef int collect_edge(Node node, int edge, TensorBase t) except -1:
    """Lead edge number `edge` to where the gradient of `t` goes; nowhere when `t` does not require grad."""
    cdef PyObject *target
    if t is None or not t.flags & (REQUIRES_GRAD | IS_VIEW):
        return 0
    target = t.grad_fn
    if t.flags & IS_VIEW:
        target = current_grad_fn(t)
        if target != NULL:      # perhaps made just now
            node.come_after(<Node>target)
    if target == NULL:
        return collect_leaf(node, edge, t)
    Py_INCREF_pointer(target)
    node.edges[edge].node = target
    node.edges[edge].input_nr = t.output_nr
    if (<Node>target).flags & NODE_TRACKED:
        track(node)
    return 0


cdef int collect_leaf(Node node, int edge, TensorBase t) except -1:
    """See node.pxd, Note [Edges to leaves]."""
    if not t.flags & REQUIRES_GRAD:
        return 0
    if t.meta is not None and (<TensorMeta>t.meta).stands_for is not None:
        return collect_leaf(node, edge, (<TensorMeta>t.meta).stands_for)
    if t.meta is not None and (<TensorMeta>t.meta).accumulator != NULL:
        node.edges[edge].node = grad_accumulator(t)
        if (<Node>node.edges[edge].node).flags & NODE_TRACKED:
            track(node)
    else:
        Py_INCREF(t)
        node.edges[edge].node = <PyObject *>t
        node.edges[edge].input_nr = LEAF_EDGE
    if t.flags & (HAS_HOOKS | HAS_ATTRIBUTES):
        track(node)
    return 0


cdef int collect_edge_list(Node node, int first_edge, object tensors) except -1:
    cdef int edge = first_edge
    cdef TensorBase t
    for t in tensors or ():
        collect_edge(node, edge, t)
        edge += 1
    return edge


cdef PyObject *grad_accumulator(TensorBase leaf) except NULL:
    """The leaf's AccumulateGrad, a new reference; made when no graph holds one."""
    cdef TensorMeta meta = meta_of(leaf)
    cdef Node accumulator
    if meta.stands_for is not None:
        return grad_accumulator(meta.stands_for)
    if meta.accumulator != NULL:
        Py_INCREF_pointer(meta.accumulator)
        return meta.accumulator
    accumulator = make_accumulator(leaf)
    meta.accumulator = <PyObject *>accumulator
    if leaf.flags & HAS_HOOKS:
        track(accumulator)
    Py_INCREF(accumulator)
    return <PyObject *>accumulator


cdef void forget_accumulator(PyObject *leaf, PyObject *accumulator) noexcept:
    """The accumulator dies. The leaf may have been given another one since, see `reset_accumulator`."""
    cdef PyObject *meta
    if leaf == NULL or (<TensorBase>leaf).meta is None:
        return
    meta = <PyObject *>(<TensorBase>leaf).meta
    if (<TensorMeta>meta).accumulator == accumulator:
        (<TensorMeta>meta).accumulator = NULL


cdef int reset_accumulator(TensorBase leaf) except -1:
    """The next graph makes an accumulator of its own, for what the leaf is by then; earlier graphs keep theirs."""
    if leaf.meta is not None:
        (<TensorMeta>leaf.meta).accumulator = NULL
    return 0


c_upcalls.accumulator_of_leaf = <accumulator_maker>grad_accumulator
c_upcalls.forget_accumulator = forget_accumulator


# ---- history

cdef int set_history(TensorBase result, Node node) except -1:
    """`node` made `result`. A result whose dtype has no gradient stays without history."""
    if not has_gradient(result):
        return 0
    set_metadata(&node.metadata, result.array)
    Py_INCREF(node)
    result.grad_fn = <PyObject *>node
    result.flags |= REQUIRES_GRAD
    if result.flags & IS_VIEW:
        result.own_version = version_of(result)
    if node.flags & NODE_TRACKED:
        track(result)
    return 0


cdef bint has_gradient(TensorBase t) noexcept:
    cdef int type_number = cnp.PyArray_TYPE(<cnp.ndarray>t.array)
    return cnp.PyTypeNum_ISFLOAT(type_number) or cnp.PyTypeNum_ISCOMPLEX(type_number)


cdef int set_history_list(object results, Node node) except -1:
    """History of several outputs; None and outputs whose dtype has no gradient stay without."""
    cdef TensorBase result
    cdef int i = 0
    if not node.flags & NODE_MANY:
        node.set_outputs(len(results))
    for result in results:
        if result is not None and has_gradient(result):
            set_metadata(metadata_of(<PyObject *>node, i), result.array)
            Py_INCREF(node)
            result.grad_fn = <PyObject *>node
            result.output_nr = i
            result.flags |= REQUIRES_GRAD
            if result.flags & IS_VIEW:
                result.own_version = version_of(result)
            if node.flags & NODE_TRACKED:
                track(result)
        i += 1
    return 0


cdef int set_grad_fn(TensorBase t, Node grad_fn, int output_nr) except -1:
    """Replace the history of `t`."""
    prepare_grad_fn(t, grad_fn, output_nr)
    put_grad_fn(t, grad_fn, output_nr)
    return 0


cdef int prepare_grad_fn(TensorBase t, Node grad_fn, int output_nr) except -1:
    """The part of `set_grad_fn` that can fail, for callers that must know beforehand that the rest will not.

    A retained gradient is that of the tensor as it is now; hooks stay with the history they were set on.
    """
    if t.meta is not None and (<TensorMeta>t.meta).retains_grad:
        node_meta(grad_fn).retained.append((output_nr, weakref.ref(t)))
    return 0


cdef void put_grad_fn(TensorBase t, Node grad_fn, int output_nr) noexcept:
    """The rest of `set_grad_fn`. Values that the old node borrowed from `t` are settled first."""
    cdef PyObject *old = t.grad_fn
    if t.flags & SAVED_AS_OUTPUT:
        detach_saved_output(<PyObject *>t)
    forget_retained(t)
    Py_INCREF(grad_fn)
    t.grad_fn = <PyObject *>grad_fn
    t.output_nr = output_nr
    t.flags |= REQUIRES_GRAD
    if grad_fn.flags & NODE_TRACKED:
        track(t)
    if old != NULL:
        release_reference(old)


cdef void forget_retained(TensorBase t) noexcept:
    """The node that made `t` no longer keeps its gradient. In place: it must not want for memory."""
    cdef list retained
    cdef Py_ssize_t i
    if t.grad_fn == NULL or (<Node>t.grad_fn).meta is None:
        return
    retained = (<NodeMeta>(<Node>t.grad_fn).meta).retained
    for i in range(len(retained) - 1, -1, -1):
        if retained[i][1]() is t:
            del retained[i]
