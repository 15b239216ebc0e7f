"""Optional per-node state: hooks and user metadata."""
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase, meta_of


cdef class NodeMeta:
    """Hooks and remarks of one node.

    tensor_hooks: list of (output number, dict of hooks): hooks registered on the tensor that the node produced
    retained: list of (output number, weak reference to a tensor whose gradient is retained)
    """

    def __init__(self):
        self.tensor_hooks = []
        self.retained = []
        from gradsmith.runtime.switches.hooks import new_table

        self.pre_hooks = new_table()
        self.post_hooks = new_table()
        self.metadata = {}


cdef NodeMeta node_meta(Node node):
    if node.meta is None:
        node.meta = NodeMeta()
    return <NodeMeta>node.meta


cdef object hook_table(Node node, int output_nr):
    from gradsmith.runtime.switches.hooks import new_table

    for number, table in node_meta(node).tensor_hooks:
        if number == output_nr:
            return table
    table = new_table()
    node_meta(node).tensor_hooks.append((output_nr, table))
    return table


cdef object hooks_of_tensor(TensorBase t):
    """The table that a tensor's `register_hook` adds to."""
    from gradsmith.runtime.switches.hooks import new_table

    if t.grad_fn != NULL:
        return hook_table(<Node>t.grad_fn, t.output_nr)
    if meta_of(t).hooks is None:
        meta_of(t).hooks = new_table()
    return meta_of(t).hooks
