from gradsmith.runtime.node cimport Node
from gradsmith.runtime.tensor cimport TensorBase


cdef class CopySlices(Node):
    pass


cdef class AsStridedBackward0(Node):
    pass


cdef CopySlices make_copy_slices(TensorBase base, TensorBase view, Node function, int written=*)
cdef AsStridedBackward0 make_view_node(TensorBase base, TensorBase view)
