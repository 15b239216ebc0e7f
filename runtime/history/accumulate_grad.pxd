from cpython.ref cimport PyObject

from gradsmith.runtime.graph.input_metadata cimport same_kind
from gradsmith.runtime.graph.input_metadata cimport InputMetadata
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport HAS_GRAD_DTYPE, TensorBase


cdef class AccumulateGrad(Node):
    pass


cdef AccumulateGrad make_accumulator(TensorBase leaf)
cdef TensorBase leaf_of(PyObject *accumulator)
cdef int leaf_metadata(InputMetadata *metadata, TensorBase leaf) except -1      # what its gradient must look like
cdef inline bint fits_leaf(TensorBase leaf, PyObject *grad) noexcept:
    return not leaf.flags & HAS_GRAD_DTYPE and same_kind(leaf.array, (<TensorBase>grad).array)
# Add a gradient to the leaf's `.grad`; consumes the reference.
cdef int accumulate_grad(TensorBase leaf, PyObject *grad) except -1
# `leaf.grad[index] += grad`; False, and nothing is done, where that would not be all.
cdef bint add_part_to_grad(TensorBase leaf, TensorBase grad, object shape, object index) except -1

# A tracer wants to know of each leaf whose `.grad` is read, written or added to, before that happens.
ctypedef int (*LeafListener)(TensorBase leaf, bint is_read) except -1
cdef void report_leaves_to(LeafListener listener) noexcept
cdef int touch_grad(TensorBase leaf, bint is_read) except -1
