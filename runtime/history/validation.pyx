"""A gradient is made to look like the value it is the gradient of, or refused.

A formula gives the gradient of the *result's* shape and of whatever dtype its operands make. Broadcasting and promotion
are undone here, once for all ops.
"""
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, is_meta, sum_to
from gradsmith.runtime.batching.batch cimport is_batched
from gradsmith.runtime.graph.input_metadata cimport (
    DeviceNumber,
    InputMetadata,
    device_of_array,
    metadata_dtype,
    metadata_shape,
    metadata_shape_tuple,
)
from gradsmith.runtime.graph.node cimport Edge, LEAF_EDGE, NODE_CUSTOM, Node
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap, wrap_owned
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.device import ALL as DEVICES
from gradsmith.runtime.switches import upcalls

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


cdef PyObject *conform_gradient(Node node, int edge, InputMetadata *metadata, PyObject *grad) except NULL:
    """Undo broadcasting and promotion; consumes `grad`, gives a new reference."""
    cdef TensorBase value = <TensorBase>grad
    Py_DECREF_pointer(grad)
    if not wants_ops(value) and only_broadcast(metadata, value.array):
        value = wrap_owned(sum_to(value.array, metadata.ndim, metadata_shape(metadata)))
        Py_INCREF(value)
        return <PyObject *>value
    value = match_shape(node, edge, metadata, value)
    value = match_dtype(node, edge, metadata, value)
    Py_INCREF(value)
    return <PyObject *>value


cdef inline bint wants_ops(TensorBase value) noexcept:
    """Is the conversion to be recorded, to carry a tangent on, or one of a batch?"""
    return grad_enabled() or has_tangent_1(value) or is_batched(value)


cdef PyObject *on_device(Node node, int edge, DeviceNumber expected, PyObject *grad) except NULL:
    """`grad`, moved when it is without dimensions; consumes it, gives a new reference."""
    cdef TensorBase value = <TensorBase>grad
    cdef DeviceNumber found = device_of_array(value.array)
    if found == expected:
        return grad
    Py_DECREF_pointer(grad)
    if cnp.PyArray_NDIM(<cnp.ndarray>value.array):
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {edge} - expected device "
            f"{DEVICES[expected]} but got {DEVICES[found]}"
        )
    value = upcalls.to(value, DEVICES[expected])
    Py_INCREF(value)
    return <PyObject *>value


cdef bint only_broadcast(InputMetadata *metadata, PyObject *array) noexcept:
    """Right dtype, and of a shape that the expected one could have been broadcast to."""
    cdef npy_intp *expected = metadata_shape(metadata)
    cdef npy_intp *found = cnp.PyArray_DIMS(<cnp.ndarray>array)
    cdef int extra = cnp.PyArray_NDIM(<cnp.ndarray>array) - metadata.ndim
    cdef int i
    if extra < 0 or cnp.PyArray_TYPE(<cnp.ndarray>array) != metadata.type_number:
        return False
    for i in range(metadata.ndim):
        if expected[i] != 1 and expected[i] != found[extra + i]:
            return False
    return True


cdef TensorBase match_shape(Node node, int edge, InputMetadata *metadata, TensorBase value):
    cdef tuple shape = metadata_shape_tuple(metadata)
    if value.shape == shape:
        return value
    if not is_expandable(shape, value.shape):
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {edge} - got {list(value.shape)} "
            f"but expected shape compatible with {list(shape)}"
        )
    if wants_ops(value):
        return upcalls.sum_to(value, shape)
    return wrap_owned(sum_to(value.array, metadata.ndim, metadata_shape(metadata)))


cdef bint is_expandable(tuple shape, object expanded):
    """Could `shape` have been broadcast to `expanded`?"""
    if len(shape) > len(expanded):
        return False
    return all([n in (1, m) for n, m in zip(reversed(shape), reversed(expanded))])


cdef bint leads_to_real_leaf(Edge *edge) noexcept:
    """Of an edge to a leaf: its gradients may have any dtype, but those of real numbers are real."""
    cdef PyObject *leaf = edge.node if edge.input_nr == LEAF_EDGE else (<Node>edge.node).saved[0].value
    return not cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(<cnp.ndarray>(<TensorBase>leaf).array))


cdef TensorBase match_dtype(Node node, int edge, InputMetadata *metadata, TensorBase value):
    """A real input takes the real part of a complex gradient: that is its gradient in conjugate Wirtinger calculus."""
    cdef object dtype = metadata_dtype(metadata)
    cdef bint drops_imaginary
    if dtype is None and value.dtype.kind == "c" and leads_to_real_leaf(&node.edges[edge]):
        dtype = (<object>value.array).real.dtype
    if dtype is None or value.dtype == dtype:
        return value
    drops_imaginary = value.dtype.kind == "c" and dtype.kind != "c"
    if drops_imaginary and node.flags & NODE_CUSTOM:
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {edge} - got {value.dtype} but expected a "
            f"real gradient, of dtype {dtype}; return its real part"
        )
    if wants_ops(value):
        return upcalls.to(upcalls.real(value) if drops_imaginary else value, dtype)
    array = <object>value.array
    if is_meta(value.array):
        return wrap(array_without_data(array.shape, dtype))
    if drops_imaginary:
        return wrap(array.real.astype(dtype))
    return wrap_owned(cast(value.array, metadata.type_number))
