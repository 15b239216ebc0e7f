from cpython.ref cimport PyObject

from gradsmith.runtime.node cimport Node
from gradsmith.runtime.tensor cimport TensorBase


cdef class AccumulateGrad(Node):
    pass


cdef AccumulateGrad make_accumulator(TensorBase leaf)
cdef TensorBase leaf_of(PyObject *accumulator)
# Add a gradient to the leaf's `.grad`; consumes the reference.
cdef int accumulate_grad(TensorBase leaf, PyObject *grad) except -1
