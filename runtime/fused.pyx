"""Compiled loops of pointwise formulas, run on the arrays of a node or of a forward."""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t
cimport numpy as cnp

from gradsmith.runtime.array cimport FusedKernel, fused, fused_over
from gradsmith.runtime.input_buffer cimport is_owned
from gradsmith.runtime.node cimport Node, wants
from gradsmith.runtime.node_slots cimport value_of
from gradsmith.runtime.saved_variable cimport saved_array
from gradsmith.runtime.tangent cimport ops_wanted
from gradsmith.runtime.tensor cimport TensorBase, wrap_owned

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)

cdef extern from *:
    """
    #define GS_IS_PASS(kernel) ((kernel)->loops[0] == NULL)
    """
    bint GS_IS_PASS(const FusedKernel *kernel) noexcept

cdef enum:
    SAVED_SOURCE = 0x40         # GS_SAVED of kernels/fused.h
    SOURCE_MASK = 0x3F
    MAX_INPUTS = 8


cdef bint apply_fused(Node node, const FusedKernel *const *kernels, PyObject **grads, PyObject **grad_inputs) except -1:
    cdef uint32_t wanted = node.wanted
    cdef int edge, last = -1
    if ops_wanted():
        return False
    for edge in range(node.n_edges):
        if wants(wanted, edge):
            last = edge
    for edge in range(last + 1):
        if wants(wanted, edge) and not apply_one(node, kernels[edge], grads, &grad_inputs[edge], edge == last):
            drop_all(grad_inputs, edge)
            return False
    return True


cdef void drop_all(PyObject **grad_inputs, int count) noexcept:
    cdef int i
    for i in range(count):
        if grad_inputs[i] != NULL:
            Py_DECREF_pointer(grad_inputs[i])
            grad_inputs[i] = NULL


cdef bint apply_one(
    Node node, const FusedKernel *kernel, PyObject **grads, PyObject **grad_input, bint last
) except -1:
    """Gradient of one edge. The last one may be computed in the incoming gradient's own memory."""
    cdef PyObject *inputs[MAX_INPUTS]
    cdef double scalars[MAX_INPUTS]
    cdef PyObject *grad = grads[0]
    cdef PyObject *array
    cdef PyObject *reuse = NULL
    cdef int i
    if GS_IS_PASS(kernel):
        Py_INCREF_pointer(grad)
        grad_input[0] = grad
        return True
    for i in range(kernel.n_inputs):
        if kernel.inputs[i] & SAVED_SOURCE:
            array = saved_array(node, kernel.inputs[i] & SOURCE_MASK)
        else:
            array = NULL if grads[kernel.inputs[i]] == NULL else (<TensorBase>grads[kernel.inputs[i]]).array
        if array == NULL:
            return False
        inputs[i] = array
    for i in range(kernel.n_scalars):
        scalar = value_of(node, kernel.scalars[i])
        if type(scalar) is complex:
            return False
        scalars[i] = scalar
    if last and is_owned(grad):
        reuse = (<TensorBase>grad).array
    array = fused(kernel, inputs, scalars, reuse)
    if array == NULL:
        return False
    if array == reuse:
        # The engine's own reference, moved: the gradient tensor goes on with new contents.
        Py_DECREF_pointer(array)
        grads[0] = NULL
        grad_input[0] = grad
        return True
    result = wrap_owned(array)
    Py_INCREF(result)
    grad_input[0] = <PyObject *>result
    return True


cdef bint read_scalars(const FusedKernel *kernel, object scalars, double *numbers) except -1:
    cdef int i
    for i in range(kernel.n_scalars):
        scalar = scalars[kernel.scalars[i]]
        if type(scalar) is complex:
            return False
        numbers[i] = scalar
    return True


cdef bint read_operands(
    const FusedKernel *kernel, PyObject **tensors, object scalars, PyObject **inputs, double *numbers
) except -1:
    """False when a number is complex, which no kernel takes."""
    cdef int i
    if not read_scalars(kernel, scalars, numbers):
        return False
    for i in range(kernel.n_inputs):
        inputs[i] = (<TensorBase>tensors[kernel.inputs[i]]).array
    return True


cdef TensorBase fused_forward(const FusedKernel *kernel, PyObject **tensors, object scalars):
    cdef PyObject *inputs[MAX_INPUTS]
    cdef double numbers[MAX_INPUTS]
    cdef PyObject *array
    if not read_operands(kernel, tensors, scalars, inputs, numbers):
        return None
    array = fused(kernel, inputs, numbers, NULL)
    return None if array == NULL else wrap_owned(array)


cdef bint fused_into(const FusedKernel *kernel, PyObject **tensors, object scalars, TensorBase out) except -1:
    cdef PyObject *inputs[MAX_INPUTS]
    cdef double numbers[MAX_INPUTS]
    cdef int i
    if not read_operands(kernel, tensors, scalars, inputs, numbers):
        return False
    for i in range(kernel.n_inputs):
        if inputs[i] != out.array and may_overlap(inputs[i], out.array):
            return False
    return fused_over(kernel, inputs, numbers, out.array)


cdef bint may_overlap(PyObject *a, PyObject *b) except -1:
    """Elements of one array that are other elements of the other would be read after they are written."""
    cdef char *start_a = <char *>cnp.PyArray_DATA(<cnp.ndarray>a)
    cdef char *start_b = <char *>cnp.PyArray_DATA(<cnp.ndarray>b)
    if cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>a) and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>b):
        return (
            start_a < start_b + cnp.PyArray_NBYTES(<cnp.ndarray>b)
            and start_b < start_a + cnp.PyArray_NBYTES(<cnp.ndarray>a)
        )
    return np.may_share_memory(<object>a, <object>b)
