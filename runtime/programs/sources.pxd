from gradsmith.runtime.graph.tensor cimport TensorBase

cdef TensorBase leaf_in(object leaves, object leaf)
cdef object grad_of(TensorBase leaf)
cpdef tuple values_of(object sources, object leaves)
