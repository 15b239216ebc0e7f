"""Calling the hooks of tensors and nodes, and checking what they return.

The order on one path: hooks of the tensor, its retained gradient, prehooks of the node, the node, its hooks; at a leaf
hooks of the tensor, prehooks, accumulation, hooks of the accumulator, post-accumulate hooks.
"""
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject

from gradsmith.runtime.accumulate_grad cimport leaf_of
from gradsmith.runtime.input_buffer cimport add_tensors
from gradsmith.runtime.node cimport NODE_LEAF, Node, NodeMeta
from gradsmith.runtime.tangent cimport ops_wanted
from gradsmith.runtime.tensor cimport HAS_HOOKS, TensorBase, TensorMeta, meta_of, wrap

cdef extern from "Python.h":
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)


cdef int run_tensor_hooks(Node node, PyObject **grads) except -1:
    """Hooks of the tensors whose gradients come in here, then retained gradients, which see what the hooks made."""
    cdef NodeMeta meta
    if node.flags & NODE_LEAF:
        run_leaf_hooks(leaf_of(<PyObject *>node), grads)
    if node.meta is None:
        return 0
    meta = <NodeMeta>node.meta
    for output_nr, table in meta.tensor_hooks:
        if grads[<int>output_nr] != NULL:
            run_hooks(table, &grads[<int>output_nr])
    for output_nr, reference in meta.retained:
        tensor = reference()
        if tensor is not None and grads[<int>output_nr] != NULL:
            retain(tensor, <TensorBase>grads[<int>output_nr])
    return 0


cdef int run_leaf_hooks(TensorBase leaf, PyObject **grads) except -1:
    if leaf.flags & HAS_HOOKS and (<TensorMeta>leaf.meta).hooks and grads[0] != NULL:
        run_hooks((<TensorMeta>leaf.meta).hooks, &grads[0])
    return 0


cdef int run_hooks(object table, PyObject **slot) except -1:
    """Call every hook with the gradient; what one returns is what the next one sees."""
    cdef TensorBase before, after
    for hook in list(table.values()):
        before = <TensorBase>slot[0]
        result = hook(before)
        if result is None:
            continue
        check_hook_result(hook, before, result)
        after = result
        Py_INCREF(after)
        slot[0] = <PyObject *>after
        Py_DECREF(before)
    return 0


cdef int check_hook_result(object hook, TensorBase before, object result) except -1:
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(result, TensorBase):
        raise TypeError(f"hook '{name}' returned {type(result).__name__} (expected Tensor or None)")
    if result.shape != before.shape:
        raise RuntimeError(
            f"hook '{name}' has changed the size of value: got {list(result.shape)}, expected {list(before.shape)}"
        )
    if result.dtype != before.dtype:
        raise RuntimeError(f"hook '{name}' has changed the type of value: got {result.dtype}, expected {before.dtype}")
    return 0


cdef int retain(TensorBase t, TensorBase grad) except -1:
    meta = meta_of(t)
    if meta.grad is None:
        meta.grad = grad if ops_wanted() else wrap((<object>grad.array).copy())
    else:
        meta.grad = add_tensors(meta.grad, grad)
    return 0


cdef int run_post_accumulate_hooks(TensorBase leaf) except -1:
    if leaf.flags & HAS_HOOKS and (<TensorMeta>leaf.meta).post_accumulate_hooks:
        for hook in list((<TensorMeta>leaf.meta).post_accumulate_hooks.values()):
            hook(leaf)
    return 0


cdef tuple as_tuple(PyObject **slots, int count):
    return tuple([None if slots[i] == NULL else <object>slots[i] for i in range(count)])


cdef int replace_all(str what, Node node, object values, PyObject **slots, int count) except -1:
    """Store what a node hook returned."""
    cdef int i
    if isinstance(values, TensorBase):
        values = (values,)
    if len(values) != count:
        raise RuntimeError(f"{what} of {node.name()} returned {len(values)} gradients, expected {count}")
    for i in range(count):
        value = values[i]
        if value is not None and not isinstance(value, TensorBase):
            raise TypeError(f"{what} of {node.name()} returned {type(value).__name__} at index {i}, expected Tensor or None")
    for i in range(count):
        value = values[i]
        Py_XDECREF_pointer(slots[i])
        slots[i] = NULL
        if value is not None:
            Py_INCREF(value)
            slots[i] = <PyObject *>value
    return 0


cdef int run_pre_hooks(Node node, PyObject **grads) except -1:
    for hook in list((<NodeMeta>node.meta).pre_hooks.values()):
        result = hook(as_tuple(grads, node.n_outputs))
        if result is not None:
            replace_all("prehook", node, result, grads, node.n_outputs)
    return 0


cdef int apply_with_post_hooks(Node node, PyObject **grads, PyObject **results) except -1:
    # The hooks see the incoming gradients, so that `apply` must not overwrite them: hold them meanwhile.
    incoming = as_tuple(grads, node.n_outputs)
    node.apply(grads, results)
    for hook in list((<NodeMeta>node.meta).post_hooks.values()):
        result = hook(as_tuple(results, node.n_edges), incoming)
        if result is not None:
            replace_all("hook", node, result, results, node.n_edges)
    return 0
