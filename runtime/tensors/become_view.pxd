from gradsmith.runtime.graph.tensor cimport TensorBase


cdef int become_view(TensorBase self, TensorBase view) except -1    # `view` was made of `self`, by the op and just now
