from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase


cdef class NodeMeta:
    cdef public list tensor_hooks, retained
    cdef public object pre_hooks, post_hooks        # tables of hooks.py
    cdef public dict metadata

# Made on first use:
cdef NodeMeta node_meta(Node node)
cdef object hook_table(Node node, int output_nr)            # hooks of one of its outputs
cdef object hooks_of_tensor(TensorBase t)                   # what a tensor's `register_hook` adds to
