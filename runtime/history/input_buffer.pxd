from cpython.ref cimport PyObject

from gradsmith.runtime.graph.tensor cimport TensorBase


cdef bint is_owned(PyObject *grad) noexcept                         # may the engine overwrite the gradient, unseen by anybody
cdef int add_into(PyObject **slot, PyObject *grad) except -1        # slot += grad; consumes `grad`
cdef TensorBase add_tensors(TensorBase a, TensorBase b)             # recorded when the graph of the gradient is wanted
