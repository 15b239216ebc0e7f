from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase


cdef bint add_at_index(Node node, int edge, TensorBase grad, object shape, object index) except -1
cdef bint is_first(Node node, int edge) except -1
