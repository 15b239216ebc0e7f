"""Inputs and outputs of a node's `apply`: saved values, incoming and outgoing gradients."""
from cpython.ref cimport Py_INCREF, PyObject

from gradsmith.runtime.graph.input_metadata cimport InputMetadata, zeros_for
from gradsmith.runtime.graph.node cimport Node, metadata_of
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap

cdef extern from "Python.h":
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)


# ---- values

cdef void set_value(Node node, int slot, object value) noexcept:
    Py_INCREF(value)
    node.values[slot] = <PyObject *>value


cdef object value_of(Node node, int slot):
    # A node that Python made by calling __new__ has no slots.
    if slot >= node.n_values or node.values[slot] == NULL:
        return None
    return <object>node.values[slot]


cdef void drop_value(Node node, int slot) noexcept:
    cdef PyObject *value
    if slot < node.n_values:
        value = node.values[slot]
        node.values[slot] = NULL
        Py_XDECREF_pointer(value)


# ---- gradients in and out of `apply`

cdef TensorBase gradient(PyObject **grads, int index):
    return None if grads[index] == NULL else <TensorBase>grads[index]


cdef TensorBase gradient_or_zeros(Node node, PyObject **grads, int index):
    """Incoming gradient; zeros of the right shape where none has arrived (an output that nobody used)."""
    cdef InputMetadata *metadata
    if grads[index] != NULL:
        return <TensorBase>grads[index]
    metadata = metadata_of(<PyObject *>node, index)
    if metadata.type_number < 0:
        return None
    return wrap(zeros_for(metadata))


cdef void set_grad_input(PyObject **grad_inputs, int edge, TensorBase value) noexcept:
    if value is not None:
        Py_INCREF(value)
        grad_inputs[edge] = <PyObject *>value


cdef int set_grad_inputs(Node node, PyObject **grad_inputs, int first, int end, object values) except -1:
    cdef int edge = first
    for value in values or ():
        if edge >= end:
            raise RuntimeError(
                f"{node.name()}: the formula gives {len(values)} gradients for {end - first} tensors"
            )
        set_grad_input(grad_inputs, edge, value)
        edge += 1
    return 0
