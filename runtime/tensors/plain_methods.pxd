from gradsmith.runtime.tensors.variable cimport Variable


cdef class PlainMethods(Variable):
    pass
