from cpython.ref cimport PyObject

from gradsmith.runtime.node cimport Node, SavedVariable
from gradsmith.runtime.tensor cimport TensorBase


# The saved tensors of a Tensor[] argument, kept in a value slot.
cdef class SavedList:
    cdef list tensors           # None after release
    cdef list versions


cdef void save_input(Node node, int slot, TensorBase t) noexcept     # None stays undefined
cdef void save_output(Node node, int slot, TensorBase t) noexcept    # after set_history; no cycle
cdef int save_list(Node node, int value_slot, object tensors) except -1
cdef TensorBase unpack(Node node, int slot)
cdef list unpack_list(Node node, int value_slot)
cdef object saved_attribute(Node node, int slot)
cdef PyObject *saved_array(Node node, int slot) except? NULL         # borrowed ndarray of a saved tensor, version checked
cdef void settle_output(PyObject *t) noexcept                       # t dies or changes history: hand its array over
