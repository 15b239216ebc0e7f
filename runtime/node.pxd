from cpython.ref cimport PyObject
from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t, uint64_t
from numpy cimport npy_intp

from gradsmith.runtime.tensor cimport TensorBase


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


cdef enum:
    INLINE_DIMS = 3
    ANY_DTYPE = -2

cdef enum DeviceNumber:         # place in runtime/device.py, TYPES
    CPU = 0
    META = 1
    DEVICE_COUNT = 2

# Shape, dtype and device that a gradient coming in at this place must have.
cdef struct InputMetadata:
    int16_t type_number         # NumPy type number, -1 while unset, ANY_DTYPE where each will do
    int16_t ndim
    uint32_t device             # a DeviceNumber
    npy_intp inline_shape[INLINE_DIMS]
    npy_intp *long_shape        # owned, used when ndim > INLINE_DIMS

# What a node with several outputs keeps per output.
cdef struct OutputSlot:
    InputMetadata metadata
    PyObject *buffer


cdef enum NodeFlag:
    NODE_TRACKED = 2            # seen by the cyclic collector, see Note [Collected late]
    NODE_LEAF = 4               # AccumulateGrad: a sink, never queued by itself
    NODE_MANY = 8               # several outputs: `outputs` is an array of OutputSlot
    NODE_RETAINED = 16          # set for a run that leaves what is saved for another one
    NODE_GUARDED = 32           # a write guard holds arrays for its saved slots; see write_guard.pyx
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
    # Rare things: hooks and the user's metadata; None until used.
    cdef object meta
    cdef uint64_t sequence_nr   # order of creation over all threads; edges lead to smaller numbers

    # Fixed by `init`; the pointers lead to the inline slots below while those suffice.
    cdef Edge *edges
    cdef SavedVariable *saved
    cdef PyObject **values      # owned non-tensor values
    cdef uint16_t n_edges
    cdef uint16_t n_saved
    cdef uint16_t n_outputs
    cdef uint8_t n_values
    cdef uint8_t flags

    # Scratch of one run of the engine, valid while `task` is that run's number.
    cdef uint64_t task
    cdef uint32_t state         # engine's marks
    cdef uint32_t wanted        # bit i: edge i's gradient is asked for (past 31 each is); see `wants`
    cdef PyObject *buffer       # summed incoming gradient of the only output; owned

    cdef Edge inline_edges[2]
    cdef SavedVariable inline_saved[2]
    cdef PyObject *inline_values[1]
    cdef InputMetadata metadata
    cdef OutputSlot *outputs

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


cdef class NodeMeta:
    cdef public list tensor_hooks, retained
    cdef public object pre_hooks, post_hooks        # tables of hooks.py
    cdef public dict metadata

# The autograd side of tensors, a layer above, says here how a leaf's accumulator is made (a new reference) and how a
# leaf, borrowed, forgets one that dies.
ctypedef PyObject *(*accumulator_maker)(TensorBase) except NULL
ctypedef void (*accumulator_forgetter)(PyObject *leaf, PyObject *accumulator) noexcept
cdef void set_accumulator_functions(accumulator_maker maker, accumulator_forgetter forgetter) noexcept

# Anomaly mode, a layer above too, is told of every new node while it is on: otherwise the recorder is NULL.
ctypedef int (*origin_recorder)(Node) except -1
cdef void set_origin_recorder(origin_recorder recorder) noexcept

cdef NodeMeta node_meta(Node node)                          # made on first use
cdef object hook_table(Node node, int output_nr)            # hooks of one of its outputs, made on first use

cdef void set_value(Node node, int slot, object value) noexcept
cdef object value_of(Node node, int slot)

cdef void release_reference(PyObject *node) noexcept       # drop an owned reference, never recursing into long chains
cdef void drop_saved(SavedVariable *slot) noexcept
cdef inline InputMetadata *metadata_of(PyObject *node, uint32_t output_nr) noexcept:
    if (<Node>node).outputs != NULL:
        return &(<Node>node).outputs[output_nr].metadata
    return &(<Node>node).metadata
cdef int set_metadata(InputMetadata *metadata, PyObject *array) except -1
cdef inline npy_intp *metadata_shape(InputMetadata *metadata) noexcept:
    if metadata.ndim <= INLINE_DIMS:
        return metadata.inline_shape
    return metadata.long_shape
cdef tuple metadata_shape_tuple(InputMetadata *metadata)
cdef DeviceNumber device_of_array(PyObject *array) noexcept
cdef object metadata_dtype(InputMetadata *metadata)         # None for ANY_DTYPE

# Gradients come and go as borrowed slots of the engine; NULL is "undefined".
cdef TensorBase gradient(PyObject **grads, int index)
cdef TensorBase gradient_or_zeros(Node node, PyObject **grads, int index)
cdef void give(PyObject **grad_inputs, int edge, TensorBase value) noexcept
# To the edges of a list of tensors, which end before `end`.
cdef int give_list(Node node, PyObject **grad_inputs, int first, int end, object values) except -1
cdef void track(object thing) noexcept                     # see Note [Collected late]
cpdef long live_nodes() noexcept
