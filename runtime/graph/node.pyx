"""Nodes and edges of the recorded graph.

A `Node` is the backward of one recorded operation. Gradients of the operation's outputs come in, gradients of its
inputs go out along `edges`, each of which names a node and which of its incoming gradients is meant. A result tensor
owns its node, a node owns the nodes it leads to: the graph is held from its end, and lives as long as somebody holds
a result.

Note [Release without recursion]
Dropping the last reference to the end of a chain of a million nodes must not recurse a million deep. A node that dies
puts the nodes it owned on a list; the outermost `release_reference` works the list off.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport release_array
from gradsmith.runtime.graph.gc_tracking cimport track_for_gc
from gradsmith.runtime.graph.input_metadata cimport INLINE_DIMS, describe_metadata, free_metadata
from gradsmith.runtime.graph.node_meta cimport hooks_of_tensor, node_meta
from gradsmith.runtime.graph.saved_variable cimport SavedList, forget_lost_changes, release_list, unguard
from gradsmith.runtime.graph.tensor cimport TensorBase, uncount_save, version_owner
from gradsmith.runtime.switches.debug cimport GS_CHECK, GS_HAS_CHECKS
from gradsmith.runtime.switches.upcalls cimport c_upcalls

from gradsmith.runtime.switches import upcalls

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(void *)
    Py_ssize_t Py_REFCNT(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)
    ctypedef int (*visitproc)(PyObject *, void *) noexcept
    ctypedef int (*traverseproc)(PyObject *, visitproc, void *) noexcept
    ctypedef int (*inquiry)(PyObject *) noexcept
    ctypedef void (*destructor)(PyObject *) noexcept
    ctypedef void (*freefunc)(void *) noexcept
    ctypedef struct PyTypeObject:
        traverseproc tp_traverse
        inquiry tp_clear
        freefunc tp_free
    PyTypeObject *Py_TYPE(PyObject *) noexcept

cdef extern from "runtime/graph/untracked.h":
    void gs_allocate_untracked(PyTypeObject *, destructor, Py_ssize_t) noexcept
    Py_ssize_t gs_visit_living(visitor) noexcept

cdef enum:
    MOST_SAVED = 0xFFFF     # what n_saved can count

cdef uint64_t next_sequence_nr = 1      # one counter for all threads: the order of the graph depends on it

# Nodes whose last reference was dropped while another release was running.
cdef PyObject **pending = NULL
cdef Py_ssize_t pending_count = 0, pending_capacity = 0
cdef bint releasing = False


cdef void release_reference(PyObject *node) noexcept:
    """See Note [Release without recursion]."""
    global pending_count, releasing
    if Py_REFCNT(node) > 1:
        Py_DECREF_pointer(node)
    elif releasing and grow_pending():
        pending[pending_count] = node
        pending_count += 1
    else:
        release_all(node)


cdef void release_all(PyObject *node) noexcept:
    global pending_count, releasing
    cdef bint outermost = not releasing
    releasing = True
    Py_DECREF_pointer(node)
    if outermost:
        while pending_count:
            pending_count -= 1
            Py_DECREF_pointer(pending[pending_count])
        releasing = False


cdef bint grow_pending() noexcept:
    global pending, pending_capacity
    cdef Py_ssize_t capacity
    cdef PyObject **grown
    if pending_count < pending_capacity:
        return True
    capacity = 1024 if pending_capacity == 0 else 2 * pending_capacity
    grown = <PyObject **>PyMem_Realloc(pending, capacity * sizeof(PyObject *))
    if grown == NULL:
        return False        # then recurse: still right, only deeper
    pending, pending_capacity = grown, capacity
    return True


cdef class Node:
    """Backward of one recorded operation. Not made from Python.

    Contract for subclasses: no fields and no destructor of their own (the pool serves classes of one size, and they
    all die by `dealloc_node`); `apply` fills one slot per edge with a new reference or leaves it NULL, and computes
    only what `wants` says.
    """

    def __cinit__(self):
        # C fields are zero already.
        self.edges = self.inline_edges
        self.saved = self.inline_saved
        self.values = self.inline_values
        self.n_outputs = 1
        self.metadata.type_number = -1

    def __init__(self):
        raise TypeError(f"{type(self).__name__} objects are made by recording operations, not by calling the class")

    cdef int init(self, int n_edges, int n_saved, int n_values) except -1:
        """Make room. To be called once, before anything is stored."""
        global next_sequence_nr
        GS_CHECK(self.sequence_nr == 0, "a node is initialised twice")
        if n_edges > 2:
            self.edges = <Edge *>PyMem_Calloc(n_edges, sizeof(Edge))
        if n_saved > 2:
            self.saved = <SavedVariable *>PyMem_Calloc(n_saved, sizeof(SavedVariable))
        if n_values > 1:
            self.values = <PyObject **>PyMem_Calloc(n_values, sizeof(PyObject *))
        if self.edges == NULL or self.saved == NULL or self.values == NULL:
            raise MemoryError()
        self.n_edges = n_edges
        self.n_saved = n_saved
        self.n_values = n_values
        self.sequence_nr = next_sequence_nr
        next_sequence_nr += 1
        if c_upcalls.record_origin != NULL:
            c_upcalls.record_origin(self)
        return 0

    cdef void come_after(self, Node other) noexcept:
        """Take a new number when `other`, which an edge of this new node leads to, was made after it."""
        global next_sequence_nr
        if self.sequence_nr < other.sequence_nr:
            self.sequence_nr = next_sequence_nr
            next_sequence_nr += 1

    cdef int set_outputs(self, int n_outputs) except -1:
        """Say that the operation has `n_outputs` outputs; one is the default."""
        cdef int i
        self.n_outputs = n_outputs
        if n_outputs == 1:
            return 0
        self.incoming.outputs = <OutputSlot *>PyMem_Calloc(max(n_outputs, 1), sizeof(OutputSlot))
        if self.incoming.outputs == NULL:
            raise MemoryError()
        self.flags |= NODE_MANY
        for i in range(n_outputs):
            self.incoming.outputs[i].metadata.type_number = -1
        return 0

    cdef int reserve_saved(self, int n_saved) except -1:
        """Make room for saved tensors after all, in a node that was initialised for none."""
        GS_CHECK(self.n_saved == 0, "a node is given room for saved tensors twice")
        if n_saved > MOST_SAVED:
            raise RuntimeError(f"{self.name()}: at most {MOST_SAVED} tensors can be saved for backward, got {n_saved}")
        if n_saved > 2:
            self.saved = <SavedVariable *>PyMem_Calloc(n_saved, sizeof(SavedVariable))
            if self.saved == NULL:
                self.saved = self.inline_saved
                raise MemoryError()
        self.n_saved = n_saved
        return 0

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        raise NotImplementedError(f"the derivative for {self.name()} is not implemented")

    cdef void release_saved(self) noexcept:
        """Free the tensors saved for backward; a later `unpack` says so. Numbers and shapes stay."""
        cdef int i
        clear_saved(<PyObject *>self, SAVED_FREED)
        for i in range(self.n_values):
            if self.values[i] != NULL and type(<object>self.values[i]) is SavedList:
                release_list(<SavedList>self.values[i])

    cpdef str name(self):
        """Name of the node, such as ``MulBackward0``."""
        return type(self).__name__

    def __repr__(self):
        return f"<{self.name()} object at {<size_t><void *>self:#x}>"

    @property
    def next_functions(self):
        """Outgoing edges: a tuple of ``(node or None, input number)``, one per differentiable input."""
        cdef int i
        for i in range(self.n_edges):
            if self.edges[i].input_nr == LEAF_EDGE:
                show_accumulator(&self.edges[i])
        return tuple([
            (None if self.edges[i].node == NULL else <object>self.edges[i].node, self.edges[i].input_nr)
            for i in range(self.n_edges)
        ])

    @property
    def metadata(self):
        """A dictionary for the user's own remarks; it stays with the node."""
        track_for_gc(self)
        return node_meta(self).metadata

    @property
    def _input_metadata(self):
        """Shape, dtype and device of each incoming gradient."""
        return tuple([describe_metadata(metadata_of(<PyObject *>self, i)) for i in range(self.n_outputs)])

    @property
    def requires_grad(self):
        """True: a node exists because something that it leads to requires grad."""
        return True

    def _sequence_nr(self):
        """Number of the node in the order of creation."""
        return self.sequence_nr

    def _set_sequence_nr(self, number):
        """Give the node another number, by which it runs later among the nodes that are ready.

        Edges lead to smaller numbers: the new one must be larger than those of `next_functions`, and no larger than
        the present one, since what was recorded on top of the node counts on it.

        Raises
        ------
        ValueError
            For a number outside these bounds.
        """
        lowest = 1 + max([(<Node>node).sequence_nr for node, _ in self.next_functions if node is not None], default=-1)
        if not lowest <= number <= self.sequence_nr:
            raise ValueError(
                f"{self.name()}: sequence number {number} would break the order of the graph; "
                f"it must be from {lowest} to {self.sequence_nr}"
            )
        self.sequence_nr = number

    def __call__(self, *grads):
        """Gradients for `next_functions` from those of the outputs, as a backward computes them here.

        No hook is called, nothing is freed, and gradients are not yet summed to the shapes of the inputs. One gradient
        comes by itself, several in a tuple; None for one that was not asked for.
        """
        return upcalls.call_node(self, grads)

    def register_hook(self, hook):
        """Call ``hook(grad_inputs, grad_outputs)`` after the node has run; what it returns replaces `grad_inputs`."""
        from gradsmith.runtime.switches.hooks import add_hook

        track_for_gc(self)
        return add_hook(node_meta(self).post_hooks, hook)

    def register_prehook(self, hook):
        """Call ``hook(grad_outputs)`` before the node runs; what it returns replaces `grad_outputs`."""
        from gradsmith.runtime.switches.hooks import add_hook

        track_for_gc(self)
        return add_hook(node_meta(self).pre_hooks, hook)

    def _register_hook_dict(self, TensorBase tensor not None):
        """Let the hooks of `tensor`, present and future ones, see the gradient that comes in at its output number."""
        cdef list tables = node_meta(self).tensor_hooks
        cdef object table = hooks_of_tensor(tensor)
        if tensor.output_nr >= self.n_outputs:
            raise IndexError(f"{self.name()} has {self.n_outputs} outputs, and none with number {tensor.output_nr}")
        track_for_gc(self)
        if not any([known is table for _, known in tables]):
            tables.append((tensor.output_nr, table))


cdef int show_accumulator(Edge *edge) except -1:
    """Let the edge hold the leaf's accumulator instead of the leaf; see Note [Edges to leaves]."""
    cdef PyObject *leaf = edge.node
    edge.node = c_upcalls.accumulator_of_leaf(<object>leaf)
    edge.input_nr = 0
    Py_DECREF_pointer(leaf)
    return 0


# ---- the end of a node
# Borrowed casts only in what follows: a reference taken to a dying node would end it a second time.

cdef void dealloc_node(PyObject *self) noexcept:
    """In place of the destructor that Cython would write; see untracked.h."""
    cdef int i
    cdef PyObject *meta = <PyObject *>(<Node>self).meta
    GS_CHECK((<Node>self).flags & NODE_MANY or (<Node>self).incoming.buffer == NULL, "a node dies with a gradient waiting")
    PyObject_GC_UnTrack(self)
    if (<Node>self).flags & NODE_LEAF:
        c_upcalls.forget_accumulator((<Node>self).saved[0].value, self)
    clear_saved(self, SAVED_EMPTY)
    clear_values(self)
    clear_outputs(self)
    for i in range((<Node>self).n_edges):
        if (<Node>self).edges[i].node != NULL:
            release_reference((<Node>self).edges[i].node)
    free_slots(self)
    Py_XDECREF_pointer(meta)
    Py_TYPE(self).tp_free(self)


cdef void free_slots(PyObject *node) noexcept:
    if (<Node>node).edges != (<Node>node).inline_edges:
        PyMem_Free((<Node>node).edges)
    if (<Node>node).saved != (<Node>node).inline_saved:
        PyMem_Free((<Node>node).saved)
    if (<Node>node).values != (<Node>node).inline_values:
        PyMem_Free((<Node>node).values)


cdef void clear_outputs(PyObject *node) noexcept:
    cdef int i
    cdef OutputSlot *outputs
    if not (<Node>node).flags & NODE_MANY:
        if (<Node>node).metadata.ndim > INLINE_DIMS:
            free_metadata(&(<Node>node).metadata)
        Py_XDECREF_pointer((<Node>node).incoming.buffer)
        return
    outputs = (<Node>node).incoming.outputs
    for i in range((<Node>node).n_outputs):
        free_metadata(&outputs[i].metadata)
        Py_XDECREF_pointer(outputs[i].buffer)
    PyMem_Free(outputs)


cdef void clear_saved(PyObject *node, int kind) noexcept:
    cdef int i
    if (<Node>node).flags & NODE_GUARDED:
        unguard(node)
    for i in range((<Node>node).n_saved):
        if (<Node>node).saved[i].value != NULL:
            drop_saved(&(<Node>node).saved[i])
        (<Node>node).saved[i].kind = kind


cdef void clear_values(PyObject *node) noexcept:
    cdef int i
    cdef PyObject *value
    for i in range((<Node>node).n_values):
        value = (<Node>node).values[i]
        if value != NULL and type(<object>value) is SavedList:
            release_list(<SavedList>value)
        Py_XDECREF_pointer(value)


cdef void drop_saved(SavedVariable *slot) noexcept:
    """Drop what the slot owns; see Note [What a saved slot holds]."""
    cdef PyObject *value = slot.value
    cdef int kind = slot.kind
    if value == NULL:
        return
    slot.value = NULL
    slot.kind = SAVED_FREED     # for who asks while it dies: what the user's hooks kept may run any code then
    if kind <= SAVED_INTERIOR:
        uncount_save(version_owner(value))
        Py_DECREF_pointer(value)
        return
    if kind == SAVED_OUTPUT:
        if (<TensorBase>value).base != NULL:
            uncount_save(version_owner(value))
        return
    if slot.stale:
        forget_lost_changes(slot)
    if kind == SAVED_ARRAY:
        release_array(value)
    else:
        Py_DECREF_pointer(value)


# ---- the collector

cdef traverseproc traverse_meta = NULL      # what Cython wrote for the only field it knows of
cdef inquiry clear_meta = NULL


cdef int traverse_node(PyObject *self, visitproc visit, void *argument) noexcept:
    # Borrowed casts only: the collector's counts must not change under it.
    cdef int i, stop
    cdef PyObject *owned
    for i in range((<Node>self).n_edges):
        owned = (<Node>self).edges[i].node
        if owned != NULL:
            stop = visit(owned, argument)
            if stop:
                return stop
    for i in range((<Node>self).n_saved):
        owned = (<Node>self).saved[i].value
        if owned != NULL and (<Node>self).saved[i].kind not in (SAVED_OUTPUT, SAVED_ARRAY):
            stop = visit(owned, argument)
            if stop:
                return stop
    for i in range((<Node>self).n_values):
        owned = (<Node>self).values[i]
        if owned != NULL:
            stop = visit(owned, argument)
            if stop:
                return stop
    return traverse_meta(self, visit, argument)


cdef int clear_node(PyObject *self) noexcept:
    """Break the cycles that go through saved tensors, as a backward does that frees them."""
    if not (<Node>self).flags & NODE_LEAF:
        clear_saved(self, SAVED_FREED)
    return clear_meta(self)


traverse_meta = (<PyTypeObject *>Node).tp_traverse
(<PyTypeObject *>Node).tp_traverse = traverse_node
clear_meta = (<PyTypeObject *>Node).tp_clear
(<PyTypeObject *>Node).tp_clear = clear_node
gs_allocate_untracked(<PyTypeObject *>Node, dealloc_node, offset_of_place())


cdef Py_ssize_t offset_of_place() noexcept:
    cdef PyObject *anywhere = <PyObject *>4096      # only addresses are computed
    return <char *>&(<Node>anywhere).place - <char *>anywhere


# ---- all nodes

cdef uint64_t newest_sequence_nr() noexcept:
    return next_sequence_nr - 1


cdef Py_ssize_t visit_nodes(visitor visit) noexcept:
    return gs_visit_living(visit)


def live_nodes():
    """Nodes alive. Those of custom Functions are not counted: these are Python's, and its collector knows them."""
    return visit_nodes(noop_visitor)


cdef void noop_visitor(PyObject *node) noexcept:
    """Not used."""


def has_internal_checks():
    """True in a build for debugging, see debug.h."""
    return bool(GS_HAS_CHECKS)
