from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Edge, Node
from gradsmith.runtime.graph.tensor cimport TensorBase


cdef class CopySlices(Node):
    pass


cdef class AsStridedBackward0(Node):
    pass


# The edge that stands for this one of `function` in a run that applies `runner`: itself, or that of the CopySlices
# around it. NULL when the run applies neither.
cdef Edge *outer_edge(PyObject *runner, Node function, int edge) except? NULL

cdef CopySlices make_copy_slices(TensorBase base, TensorBase view, Node function, int written=*)
cdef AsStridedBackward0 make_view_node(TensorBase base, TensorBase view)
