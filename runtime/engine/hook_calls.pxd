from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.node_meta cimport NodeMeta
from gradsmith.runtime.graph.tensor cimport TensorBase


cdef inline bint has_pre_hooks(Node node):
    return node.meta is not None and bool((<NodeMeta>node.meta).pre_hooks)

cdef inline bint has_post_hooks(Node node):
    return node.meta is not None and bool((<NodeMeta>node.meta).post_hooks)

# In the order in which they run; `grads` and `results` are the engine's slots.
cdef int run_tensor_hooks(Node node, PyObject **grads) except -1
cdef int run_pre_hooks(Node node, PyObject **grads) except -1
cdef int run_post_accumulate_hooks(TensorBase leaf) except -1
cdef int run_post_hooks(Node node, object incoming, PyObject **results) except -1   # `incoming`: what has gone into it

cdef tuple as_tuple(PyObject **slots, int count)
