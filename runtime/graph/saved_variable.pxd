from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

from gradsmith.runtime.graph.node cimport SAVED_ARRAY, SAVED_INPUT, Node, SavedVariable
from gradsmith.runtime.graph.tensor cimport TensorBase, version_owner


# A saved Tensor[] argument, or one of any type with tensors in it; kept in a value slot.
cdef class SavedList:
    cdef list items             # Tensor, Packed, or any other item of the argument; None after release
    cdef list versions          # None where there is no tensor
    cdef object make            # of another argument: makes what it was out of its items


# Work of saving in this thread besides keeping a reference. Zero is the plain case and the only one tested.
cdef enum SaveMode:
    PACKS = 1                   # default hooks are set, see saved_hooks.pyx
    REFUSES_HOOKS = 2           # setting hooks is an error
    GUARDS = 4                  # arrays become read-only, see write_guard.py

cdef int save_mode() noexcept
cdef void set_save_mode(int mode) noexcept

cdef int save_input(Node node, int slot, TensorBase t) except -1     # None stays undefined
cdef int save_output(Node node, int slot, TensorBase t) except -1    # after set_history; no cycle
# Is an argument of any type immutable: the parts of a basic index are, mostly.
cdef inline bint is_constant(object value) noexcept:
    return type(value) is int or type(value) is slice or value is None or value is Ellipsis

cdef int save_list(Node node, int value_slot, object tensors) except -1
cdef int save_object(Node node, int value_slot, object value) except -1
cdef TensorBase unpack(Node node, int slot)
cdef list unpack_list(Node node, int value_slot)
cdef object unpack_object(Node node, int value_slot)
cdef object unpack_number(Node node, int value_slot)                # one that is freed with the graph
cdef object saved_attribute(Node node, int slot)
cdef object saved_list_attribute(Node node, int value_slot)
cdef inline PyObject *saved_array(Node node, int slot) except? NULL:
    """Borrowed ndarray of a saved tensor, version checked; NULL when there is none, or only hooks give it."""
    cdef SavedVariable *saved = &node.saved[slot]
    if saved.kind == SAVED_ARRAY and not saved.stale:
        return saved.value
    if saved.kind == SAVED_INPUT and (<TensorBase>version_owner(saved.value)).own_version == saved.version:
        return (<TensorBase>saved.value).array
    return saved_array_of_any_kind(node, slot)

cdef PyObject *saved_array_of_any_kind(Node node, int slot) except? NULL
cdef void detach_saved_output(PyObject *t) noexcept                 # t dies or changes history: hand its array over
cdef int replace_array(TensorBase t, object array) except -1        # the nodes that borrow `t` keep the old one

# The end of what was saved: for the node.
cdef void release_list(SavedList saved) noexcept
cdef void unguard(PyObject *node) noexcept                          # takes back what a write guard did for its slots
cdef void forget_lost_changes(SavedVariable *slot) noexcept

cdef int save_packed(Node node, int slot, object packed) except -1

cdef object freed_error(Node node)
cdef int check_kept(Node node, TensorBase t, uint32_t version, bint had_history) except -1
