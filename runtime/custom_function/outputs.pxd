from gradsmith.runtime.custom_function.node cimport FunctionNode
from gradsmith.runtime.graph.tensor cimport TensorBase


# One call of a Function, while its outputs are wrapped.
cdef class Call:
    cdef FunctionNode node
    cdef tuple inputs
    cdef bint recorded          # some output gets the node for its history
    cdef bint has_setup         # forward had no ctx: what it returned is known to setup_context by identity only
    cdef tuple to_save, dirty, non_differentiable
    cdef int differentiable     # outputs so far that have a history


cdef list wrap_outputs(Call call, tuple outputs)
cdef str name_of(Call call)                                             # of the Function, for errors
cdef bint is_among(tuple values, object value) noexcept                 # by identity
cdef bint is_differentiable(Call call, TensorBase output) noexcept
