from gradsmith.runtime.graph.tensor cimport TensorBase


cdef int set_attribute(TensorBase t, object name, object value) except -1
cdef dict attributes_of(TensorBase t)                       # made on first use
cdef int set_attributes(TensorBase t, object attributes) except -1
