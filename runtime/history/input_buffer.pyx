"""Sums of gradients that meet at one place.

Note [Who owns a gradient]
A gradient that only the engine holds may be overwritten: by a pointwise node, by the addition in a buffer, by a leaf
that makes it its `.grad`. Any other keeper (a hook's argument, a capture) holds a reference, and that is what
forbids it. A node may give one tensor to two of its edges (`are_twins` of fused.pyx): where both end at one place, the
engine holds two references to it.
"""
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport ADD, accumulate as accumulate_arrays, binary, binary_into, is_meta
from gradsmith.runtime.graph.indexed_rows cimport fill_all, is_indexed, sum_of_rows
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap_owned

from gradsmith.runtime.switches import upcalls

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


cdef int add_into(PyObject **slot, PyObject *grad) except -1:
    """``slot += grad`` in place into whichever side nobody else holds; see Note [Who owns a gradient]."""
    cdef TensorBase total
    if not sum_wants_ops(<TensorBase>slot[0], <TensorBase>grad) and not has_rows(<TensorBase>slot[0], <TensorBase>grad):
        if slot[0] == grad and is_owned(grad, 2):
            Py_DECREF_pointer(grad)
            return binary_into(ADD, (<TensorBase>grad).array, (<TensorBase>grad).array, (<TensorBase>grad).array)
        if is_owned(slot[0]):
            return add_arrays(slot[0], grad)
        if is_owned(grad) and gives_layout((<TensorBase>slot[0]).array, (<TensorBase>grad).array):
            slot[0], grad = grad, slot[0]
            return add_arrays(slot[0], grad)
    try:
        total = add_tensors(<TensorBase>slot[0], <TensorBase>grad)
    finally:
        Py_DECREF_pointer(grad)
    Py_INCREF(total)
    Py_DECREF_pointer(slot[0])
    slot[0] = <PyObject *>total
    return 0


cdef bint gives_layout(PyObject *first, PyObject *second) noexcept:
    """Would the sum of two arrays lie in memory as the second does?

    The first one decides, where it tells two dimensions apart: how a gradient lies must not depend on who holds it, since
    sums over its dimensions are taken in the order in which they lie.
    """
    cdef cnp.ndarray a = <cnp.ndarray>first, b = <cnp.ndarray>second
    cdef int ndim = cnp.PyArray_NDIM(a), i, j
    cdef cnp.npy_intp *dims = cnp.PyArray_DIMS(b)
    cdef cnp.npy_intp *of_a = cnp.PyArray_STRIDES(a)
    cdef cnp.npy_intp *of_b = cnp.PyArray_STRIDES(b)
    if ndim != cnp.PyArray_NDIM(b):
        return False
    for i in range(ndim):
        for j in range(i):
            if dims[i] > 1 and dims[j] > 1 and of_a[i] != 0 and of_a[j] != 0 and (
                (abs(of_a[i]) < abs(of_a[j])) != (abs(of_b[i]) < abs(of_b[j]))
            ):
                return False
    return True


cdef int add_arrays(PyObject *owned, PyObject *grad) except -1:
    cdef PyObject *array = (<TensorBase>grad).array
    Py_INCREF_pointer(array)
    try:
        accumulate_arrays(&(<TensorBase>owned).array, array)
    finally:
        Py_DECREF_pointer(grad)
    return 0


cdef inline bint has_rows(TensorBase a, TensorBase b) noexcept:
    return is_indexed(a) or is_indexed(b)


cdef bint takes_part(TensorBase total, TensorBase grad, object shape) except -1:
    cdef cnp.ndarray array = <cnp.ndarray>total.array
    cdef int dim
    if cnp.PyArray_NDIM(array) != len(shape) or cnp.PyArray_TYPE(array) != cnp.PyArray_TYPE(<cnp.ndarray>grad.array):
        return False
    for dim in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_DIM(array, dim) != <cnp.npy_intp>shape[dim]:
            return False
    return not sum_wants_ops(total, grad) and not has_rows(total, grad) and not is_meta(grad.array)


cdef TensorBase add_tensors(TensorBase a, TensorBase b):
    if sum_wants_ops(a, b):
        return upcalls.add(a, b)
    if has_rows(a, b):
        total = sum_of_rows(a, b)
        if total is not None:
            return total
        fill_all((a, b))
    return wrap_owned(binary(ADD, a.array, b.array))
