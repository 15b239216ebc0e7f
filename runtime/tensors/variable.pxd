from gradsmith.runtime.graph.tensor cimport TensorBase


cdef class Variable(TensorBase):
    pass


cdef int renew_accumulator(TensorBase leaf) except -1           # gradients of the leaf look otherwise from now on
