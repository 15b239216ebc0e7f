"""Calling the hooks of tensors and nodes, and checking what they return.

The order on one path: hooks of the tensor, its retained gradient, prehooks of the node, the node, its hooks; at a leaf
hooks of the tensor, prehooks, accumulation, post-accumulate hooks, hooks of the accumulator. Hooks that a hook adds or
takes away count from the next time on.
"""
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject

from gradsmith.runtime.arrays.array cimport clone_by_rows, is_meta, readable_copy
from gradsmith.runtime.batching.batch cimport is_batched
from gradsmith.runtime.graph.input_metadata cimport fits
from gradsmith.runtime.graph.input_metadata cimport InputMetadata, metadata_dtype, metadata_shape_tuple
from gradsmith.runtime.graph.node cimport NODE_LEAF, Node, metadata_of
from gradsmith.runtime.graph.node_meta cimport NodeMeta
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.tensor cimport HAS_HOOKS, TensorBase, TensorMeta, meta_of, wrap, wrap_owned
from gradsmith.runtime.history.accumulate_grad cimport leaf_of
from gradsmith.runtime.history.input_buffer cimport add_tensors
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.hooks import GradientCounter

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
        run_hooks(table, &grads[<int>output_nr])
    for output_nr, reference in meta.retained:
        tensor = reference()
        if tensor is not None and grads[<int>output_nr] != NULL:
            retain(tensor, <TensorBase>grads[<int>output_nr])
    return 0


cdef int run_leaf_hooks(TensorBase leaf, PyObject **grads) except -1:
    if leaf.flags & HAS_HOOKS and (<TensorMeta>leaf.meta).hooks:
        run_hooks((<TensorMeta>leaf.meta).hooks, &grads[0])
    return 0


cdef int run_hooks(object table, PyObject **slot) except -1:
    """Call every hook with the gradient; what one returns is what the next one sees."""
    cdef TensorBase before, after
    if slot[0] == NULL:
        return report_undefined(table)
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


cdef int report_undefined(object table) except -1:
    """A gradient has turned out undefined: a matter of those who count gradients, not of other hooks."""
    for hook in list(table.values()):
        if isinstance(hook, GradientCounter):
            hook(None)
    return 0


cdef int check_hook_result(object hook, TensorBase before, object result) except -1:
    name = name_of(hook)
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
        meta.grad = copy_by_rows(grad)
    else:
        meta.grad = add_tensors(meta.grad, grad)
    return 0


cdef TensorBase copy_by_rows(TensorBase grad):
    if grad_enabled() or has_tangent_1(grad) or is_batched(grad):
        return upcalls.clone_by_rows(grad)
    if is_meta(grad.array):
        return wrap(readable_copy(<object>grad.array))
    return wrap_owned(clone_by_rows(grad.array))


cdef int run_post_accumulate_hooks(TensorBase leaf) except -1:
    if leaf.flags & HAS_HOOKS and (<TensorMeta>leaf.meta).post_accumulate_hooks:
        for hook in list((<TensorMeta>leaf.meta).post_accumulate_hooks.values()):
            result = hook(leaf)
            # Methods in place give the tensor, and so does the hook `lambda p: p.add_(p.grad, alpha=-lr)`.
            if result is not None and not isinstance(result, TensorBase):
                raise TypeError(
                    f"post-accumulate hook '{name_of(hook)}' returned {type(result).__name__}, expected None: it changes "
                    "the gradient by changing .grad of the tensor that it gets"
                )
    return 0


# ---- hooks of nodes

cdef int run_pre_hooks(Node node, PyObject **grads) except -1:
    for hook in list((<NodeMeta>node.meta).pre_hooks.values()):
        result = hook(as_tuple(grads, node.n_outputs))
        if result is not None:
            replace_all(node, hook, result, grads, node.n_outputs)
            for i in range(node.n_outputs):
                check_incoming(node, hook, i, grads[<int>i])
    return 0


cdef int check_incoming(Node node, object hook, int index, PyObject *grad) except -1:
    """A node computes without looking at what it gets: that it fits was seen to before the hook replaced it."""
    cdef InputMetadata *expected = metadata_of(<PyObject *>node, index)
    if grad == NULL or fits(expected, grad):
        return 0
    shape, dtype = metadata_shape_tuple(expected), metadata_dtype(expected)
    found = <TensorBase>grad
    if found.shape != shape:
        raise RuntimeError(
            f"hook '{name_of(hook)}' has changed the size of value: got {list(found.shape)} at index {index}, "
            f"{node.name()} expects {list(shape)}"
        )
    if dtype is not None:
        raise RuntimeError(
            f"hook '{name_of(hook)}' has changed the type of value: got {found.dtype} at index {index}, "
            f"{node.name()} expects {dtype}"
        )
    return 0


cdef int run_post_hooks(Node node, object incoming, PyObject **results) except -1:
    cdef tuple before
    if incoming is None:        # the node had no hook yet when it began to run
        incoming = (None,) * node.n_outputs
    for hook in list((<NodeMeta>node.meta).post_hooks.values()):
        before = as_tuple(results, node.n_edges)
        result = hook(before, incoming)
        if result is None:
            continue
        replace_all(node, hook, result, results, node.n_edges)
        for old, new in zip(before, as_tuple(results, node.n_edges)):
            if old is not None and new is not None:
                check_hook_result(hook, old, new)
    return 0


cdef tuple as_tuple(PyObject **slots, int count):
    return tuple([None if slots[i] == NULL else <object>slots[i] for i in range(count)])


cdef int replace_all(Node node, object hook, object values, PyObject **slots, int count) except -1:
    """Store what a node hook returned."""
    cdef int i
    if not isinstance(values, tuple):
        raise TypeError(
            f"expected tuple, but hook '{name_of(hook)}' of {node.name()} returned '{type(values).__name__}'; return "
            "None, or a tuple with one gradient (or None) for each that it got"
        )
    if len(values) != count:
        raise RuntimeError(
            f"hook '{name_of(hook)}' of {node.name()} has returned an incorrect number of values (got {len(values)}, "
            f"but expected {count})"
        )
    for i in range(count):
        value = values[i]
        if value is not None and not isinstance(value, TensorBase):
            raise TypeError(
                f"hook '{name_of(hook)}' of {node.name()} returned {type(value).__name__} at index {i}, expected Tensor "
                "or None"
            )
    for i in range(count):
        value = values[i]
        Py_XDECREF_pointer(slots[i])
        slots[i] = NULL
        if value is not None:
            Py_INCREF(value)
            slots[i] = <PyObject *>value
    return 0


cdef object name_of(object hook):
    return getattr(hook, "__name__", type(hook).__name__)
