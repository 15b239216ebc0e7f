from gradsmith.runtime.graph.tensor cimport TensorBase


cdef class Variable(TensorBase):
    pass


# ---- the array
cdef int replace_array(TensorBase t, object array) except -1    # settles what was saved of the old one
cdef int renew_accumulator(TensorBase leaf) except -1           # gradients of the leaf look otherwise from now on
