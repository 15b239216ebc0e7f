from cpython.ref cimport PyObject

from gradsmith.runtime.node cimport Node
from gradsmith.runtime.tensor cimport TensorBase


# In the order in which they run; `grads` and `results` are the engine's slots.
cdef int run_tensor_hooks(Node node, PyObject **grads) except -1
cdef int run_pre_hooks(Node node, PyObject **grads) except -1
cdef int apply_with_post_hooks(Node node, PyObject **grads, PyObject **results) except -1
cdef int run_post_accumulate_hooks(TensorBase leaf) except -1
