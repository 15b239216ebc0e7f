from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from gradsmith.runtime.graph.input_metadata cimport InputMetadata
from gradsmith.runtime.graph.tensor cimport TensorBase, visitor


# Note [Edges to leaves]
# A gradient of a leaf goes to the leaf's AccumulateGrad. Hardly anybody ever looks at that node, so an edge to a leaf
# holds the leaf itself, with LEAF_EDGE for the number, and the accumulator is made when it is asked for: by
# `next_functions`, by a hook on it, by a run that has the leaf for a requested input. From then on, while somebody
# holds it, it is what counts.
cdef enum:
    LEAF_EDGE = 0xFFFFFFFF

cdef struct Edge:
    PyObject *node              # owned Node the gradient goes to (or leaf Tensor), NULL when none is wanted
    uint32_t input_nr           # which of that node's incoming gradients


# Note [What a saved slot holds]
# EMPTY    nothing was saved (undefined, or nobody needs it)
# INPUT    `value` is an owned Tensor; `version` is its version when it was saved
# INTERIOR the same, and the tensor had a history: `detach_` must not have taken it since
# OUTPUT   `value` is a *borrowed* Tensor whose grad_fn is this very node: an owned reference would be a cycle.
#          The Tensor hands its array over when it dies or gets another history (saved_variable.settle_output)
# ARRAY    `value` is the owned ndarray of such an output; `stale` counts the changes made after it was saved
# PACKED   `value` is an owned Packed (saved_hooks.pyx): what the pack hooks of the user made of the tensor
# FREED    the value was released after a backward
# DUAL     `value` is an owned tuple: the ndarray of such an output, and the tangents that it had
# LEAF     `value` is the leaf of an AccumulateGrad, owned
cdef enum SavedKind:
    SAVED_EMPTY = 0
    SAVED_INPUT = 1
    SAVED_INTERIOR = 2
    SAVED_OUTPUT = 3
    SAVED_ARRAY = 4
    SAVED_DUAL = 5
    SAVED_PACKED = 6
    SAVED_FREED = 7
    SAVED_LEAF = 8

cdef struct SavedVariable:
    PyObject *value
    uint32_t version
    uint8_t kind
    uint8_t stale
    uint16_t output_nr


# State per output of a node with several outputs.
cdef struct OutputSlot:
    InputMetadata metadata
    PyObject *buffer

# Gradients that wait for the node to run.
cdef union Incoming:
    PyObject *buffer            # the sum for its only output, owned
    OutputSlot *outputs         # NODE_MANY: one slot per output, owned


cdef enum NodeFlag:
    NODE_SHOWN = 1              # somebody has got it from its tensor, which is tracked
    NODE_TRACKED = 2            # seen by the cyclic collector, and so is what is recorded on it; see gc_tracking.pyx
    NODE_LEAF = 4               # AccumulateGrad: a sink, never queued by itself
    NODE_MANY = 8               # several outputs: `incoming` leads to a slot for each
    NODE_RETAINED = 16          # set for a run that leaves what is saved for another one
    NODE_GUARDED = 32           # a write guard holds arrays for its saved slots; see write_guard.py
    NODE_CUSTOM = 64            # runs code of the user's: takes undefined gradients too, and may return anything


cdef inline bint wants(uint32_t wanted, int edge) noexcept:
    """Is the edge among the `wanted` ones?

    To be asked of a copy of `Node.wanted` made at the beginning of `apply`: as soon as other code runs, another run
    may ask the same node for other gradients.
    """
    return edge > 31 or (wanted >> edge) & 1


cdef inline bint wants_any(uint32_t wanted, int first, int end) noexcept:
    """Is one of the edges from `first` up to `end` among the `wanted` ones? Those of a list of tensors are such a run."""
    cdef int edge
    for edge in range(first, end):
        if wants(wanted, edge):
            return True
    return False


cdef class Node:
    cdef object meta            # NodeMeta or None: hooks and the user's metadata
    cdef uint64_t sequence_nr   # order of creation over all threads; edges lead to smaller numbers

    # Fixed by `init`; the pointers lead to the inline slots below while those suffice.
    cdef Edge *edges
    cdef SavedVariable *saved
    cdef PyObject **values      # owned non-tensor values
    cdef uint32_t n_outputs
    cdef uint16_t n_saved
    cdef uint8_t n_values
    cdef uint8_t flags

    # Scratch of one run of the engine, valid while `task` is that run's number.
    cdef uint64_t task
    cdef uint32_t state         # engine's marks
    cdef uint32_t wanted        # bit i: edge i's gradient is asked for (past 31 each is); see `wants`
    cdef Incoming incoming

    cdef Edge inline_edges[2]
    cdef SavedVariable inline_saved[2]
    cdef PyObject *inline_values[1]
    cdef InputMetadata metadata
    cdef uint32_t n_edges       # here, where it shares eight bytes with `place`
    cdef uint32_t place         # among all nodes, see untracked.h: the last field

    cdef int init(self, int n_edges, int n_saved, int n_values) except -1
    cdef void come_after(self, Node other) noexcept
    cdef int set_outputs(self, int n_outputs) except -1
    cdef int reserve_saved(self, int n_saved) except -1
    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1
    cdef void release_saved(self) noexcept
    cpdef str name(self)

    cdef inline bint wants(self, int edge) noexcept:
        """For an `apply` that asks before it does anything else; others see the function `wants`."""
        return wants(self.wanted, edge)

    cdef inline bint is_retained(self) noexcept:
        return self.flags & NODE_RETAINED != 0

    cdef inline void set_retained(self, bint retained) noexcept:
        self.flags = self.flags | NODE_RETAINED if retained else self.flags & ~NODE_RETAINED


cdef void release_reference(PyObject *node) noexcept       # drop an owned reference, never recursing into long chains
cdef void drop_saved(SavedVariable *slot) noexcept
cdef inline InputMetadata *metadata_of(PyObject *node, uint32_t output_nr) noexcept:
    if (<Node>node).flags & NODE_MANY:
        return &(<Node>node).incoming.outputs[output_nr].metadata
    return &(<Node>node).metadata
cdef uint64_t newest_sequence_nr() noexcept
cdef Py_ssize_t visit_nodes(visitor visit) noexcept         # all that live, except those of custom Functions; their number
