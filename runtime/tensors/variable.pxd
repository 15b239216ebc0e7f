from gradsmith.runtime.graph.tensor cimport TensorBase


cdef class Variable(TensorBase):
    pass


# ---- the array
cdef int replace_array(TensorBase t, object array) except -1    # settles what was saved of the old one
cdef int renew_accumulator(TensorBase leaf) except -1           # gradients of the leaf look otherwise from now on

# ---- the engine, a layer above, gives its short way for ``loss.backward()``
ctypedef bint (*scalar_backward)(TensorBase root, bint keep_graph) except -1
cdef void set_backward_of_scalar(scalar_backward function) noexcept
