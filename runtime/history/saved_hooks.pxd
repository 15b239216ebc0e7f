from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase


# The object that hooks made of a saved tensor, and all that is needed to make a tensor of it again.
cdef class Packed:
    cdef object value               # what the last pack hook gave
    cdef list unpack_hooks          # in the order in which they run
    cdef bint requires_grad
    cdef bint is_output             # of the node that saves it: the node is not held
    cdef uint32_t output_nr
    cdef Node grad_fn               # of a tensor that had another history
    cdef TensorBase leaf            # or the leaf that it was
    cdef object tangents            # of forward mode, see tangent.pxd
    cdef PyObject *output           # borrowed, while it lives and may get tangents: an output of the node


cdef object raw_saved(Node node, int slot)          # SavedTensor
cdef object raw_saved_list(Node node, int slot)     # tuple of them
