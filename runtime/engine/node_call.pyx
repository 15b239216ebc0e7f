"""A node called like a function: what it makes of given gradients, outside of any run."""
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t

from gradsmith.runtime.engine.hook_calls cimport as_tuple
from gradsmith.runtime.graph.input_metadata cimport InputMetadata, fits, metadata_dtype, metadata_shape_tuple
from gradsmith.runtime.graph.node cimport NODE_CUSTOM, NODE_LEAF, Node, metadata_of
from gradsmith.runtime.graph.tensor cimport TensorBase

cdef extern from "Python.h":
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)


def call_node(Node node not None, tuple given):
    """Gradients for the edges of `node` from those of its outputs; one by itself, several in a tuple.

    Formulas give gradients of the result's shape: a run sums them to that of the input, which is not done here. Hooks
    are not called, and what the node has saved stays.
    """
    cdef int count = node.n_outputs + node.n_edges
    cdef PyObject **slots
    check_recorded(node)
    check_given(node, given)
    slots = <PyObject **>PyMem_Calloc(max(count, 1), sizeof(PyObject *))
    if slots == NULL:
        raise MemoryError()
    try:
        take(given, slots)
        if node.flags & NODE_CUSTOM or any([gradient is not None for gradient in given]):
            node.wanted = edges_of(node)
            node.set_retained(True)
            node.apply(slots, slots + node.n_outputs)
        found = as_tuple(slots + node.n_outputs, node.n_edges)
    finally:
        for i in range(count):
            Py_XDECREF_pointer(slots[<int>i])
        PyMem_Free(slots)
    found = tuple([gradient if node.edges[<int>i].node != NULL else None for i, gradient in enumerate(found)])
    return found[0] if len(found) == 1 else found


cdef int check_recorded(Node node) except -1:
    """One that Python made by calling __new__ has no edges, and none of the tensors that it computes with."""
    if node.sequence_nr == 0 and not node.flags & NODE_LEAF:
        raise RuntimeError(f"{node.name()} was not recorded by an operation: it has nothing to compute with")
    return 0


cdef int check_given(Node node, tuple given) except -1:
    """A node computes without looking at what it gets."""
    cdef InputMetadata *expected
    if len(given) != node.n_outputs:
        raise TypeError(f"{node.name()} expected {node.n_outputs} arguments, got {len(given)} instead")
    for i, gradient in enumerate(given):
        if gradient is None:
            continue
        if not isinstance(gradient, TensorBase):
            raise TypeError(f"{node.name()}: argument {i} must be a Tensor or None, got {type(gradient).__name__}")
        expected = metadata_of(<PyObject *>node, i)
        if not fits(expected, <PyObject *>gradient):
            check_metadata(node, i, gradient, expected)
    return 0


cdef int check_metadata(Node node, int index, TensorBase gradient, InputMetadata *expected) except -1:
    shape, dtype = metadata_shape_tuple(expected), metadata_dtype(expected)
    if gradient.shape != shape or (dtype is not None and gradient.dtype != dtype):
        raise RuntimeError(
            f"{node.name()}: argument {index} is a {gradient.dtype} gradient of shape {list(gradient.shape)}, expected "
            f"{'any dtype' if dtype is None else dtype} and shape {list(shape)}"
        )
    return 0


cdef int take(tuple given, PyObject **slots) except -1:
    """Fill the slots with references of their own, so that nothing that the caller holds is overwritten."""
    cdef int i = 0
    for gradient in given:
        if gradient is not None:
            Py_INCREF(gradient)
            slots[i] = <PyObject *>gradient
        i += 1
    return 0


cdef uint32_t edges_of(Node node) noexcept:
    """Every gradient that leads somewhere is wanted."""
    cdef uint32_t wanted = 0
    cdef int i
    for i in range(min(<int>node.n_edges, 32)):
        if node.edges[i].node != NULL:
            wanted |= <uint32_t>1 << i
    return wanted
