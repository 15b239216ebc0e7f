from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase


cdef void set_value(Node node, int slot, object value) noexcept
cdef object value_of(Node node, int slot)
cdef void drop_value(Node node, int slot) noexcept

# Gradients come and go as borrowed slots of the engine; NULL is "undefined".
cdef TensorBase gradient(PyObject **grads, int index)
cdef TensorBase gradient_or_zeros(Node node, PyObject **grads, int index)
cdef void set_grad_input(PyObject **grad_inputs, int edge, TensorBase value) noexcept
# To the edges of a list of tensors, which end before `end`.
cdef int set_grad_inputs(Node node, PyObject **grad_inputs, int first, int end, object values) except -1
