from gradsmith.runtime.graph.tensor cimport TensorBase

cdef int refuse_captured(str op, TensorBase self) except -1
cdef int depth_at_birth(TensorBase t) noexcept                     # how many calls were under way when it was made
cdef int expect_own(str what, TensorBase self) except -1        # called where `running_calls`
