from gradsmith.runtime.graph.tensor cimport TensorBase

cdef int refuse_captured(str op, TensorBase self) except -1
