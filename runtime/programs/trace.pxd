from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport FusedKernel
from gradsmith.runtime.graph.tensor cimport TensorBase

# The gradient of one edge of a node, by its loop, as a step of the thread's trace; None where the loop does not take the arrays.
cdef TensorBase trace_kernel(const FusedKernel *kernel, PyObject **arrays, const double *numbers)
