from gradsmith.runtime.graph.tensor cimport TensorBase


cdef TensorBase as_instance(object cls, TensorBase source, str function)    # of a class over Tensor, in place of `source`
