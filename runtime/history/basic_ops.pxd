from gradsmith.runtime.graph.node cimport Node


cdef class Error(Node):
    pass


cdef class NotImplemented(Node):
    pass


cdef class UndefinedGradBackward(Node):
    pass
