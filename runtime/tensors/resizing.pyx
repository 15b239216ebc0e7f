"""`resize_`, `resize_as_` and `set_`: a tensor is given another part of its memory, or other memory, in place.

See become_view.pyx, Note [In place without a write]. None of these has a derivative: `resize_` refuses tensors that
require grad, and a tensor that was set with a history involved has a node that raises, as in PyTorch.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.overlap cimport is_alone
from gradsmith.runtime.batching.batch cimport is_batched, open_batch_of
from gradsmith.runtime.calls.inplace cimport check_change
from gradsmith.runtime.graph.indexed_rows cimport fill, fill_all, is_indexed
from gradsmith.runtime.graph.input_metadata cimport set_metadata
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.node_io cimport set_value, value_of
from gradsmith.runtime.graph.saved_variable cimport replace_array
from gradsmith.runtime.graph.tangent cimport has_tangent_1, has_tangent_2
from gradsmith.runtime.graph.tensor cimport IS_VIEW, TensorBase, VIEW_RESTRICTIONS, bump_version
from gradsmith.runtime.history.history cimport collect_edge, requires_grad, requires_grad_2, set_grad_fn
from gradsmith.runtime.tensors.variable cimport renew_accumulator

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.strided import contiguous_strides, elements_from, memory_over

cnp.import_array()


# ---- resize_

def resize(str op, TensorBase self not None, tuple size):
    """Give `self` another size. Its elements follow each other in memory as before; new ones are zero.

    A tensor that has that size stays as it is, and is not counted as changed.

    Raises
    ------
    RuntimeError
        When the tensor requires grad or has a tangent, or needs more memory while others see what it has.
    """
    check_resizable(op, self, size)
    if self.shape == size:
        return
    check_change(op, self)
    put_array(self, resized(op, self, size))


cdef int check_resizable(str op, TensorBase self, tuple size) except -1:
    if is_batched(self):
        raise open_batch_of(self).error(f"{op}()")
    if is_indexed(self):
        fill(self)
    if requires_grad(self):
        raise RuntimeError(f"{op}: cannot resize variables that require grad; resize a detach() or a clone()")
    if has_tangent_1(self):
        raise RuntimeError(f"{op}: cannot resize variables that have a forward grad; resize a clone()")
    if any([n < 0 for n in size]):
        raise RuntimeError(f"{op}: sizes must not be negative, got {list(size)}")
    return 0


cdef object resized(str op, TensorBase self, tuple size):
    """An array of that size over the memory of `self`, or over a larger copy of it."""
    cdef object array = None
    if is_meta(self.array):
        return array_without_data(size, self.dtype)
    array = memory_over(<object>self.array, size, contiguous_strides(size, self.itemsize), 0)
    if array is not None:
        return array
    if not is_alone(self.array):
        raise RuntimeError(
            f"{op}: Trying to resize storage that is not resizable: size {list(size)} needs more memory than the "
            f"tensor of shape {list(self.shape)} has, and other tensors or arrays share it. clone() the tensor first"
        )
    return grown(elements_from(<object>self.array), size)


cdef object grown(object elements, tuple size):
    larger = np.zeros(size, elements.dtype)
    larger.reshape(-1)[:elements.size] = elements
    return larger


# ---- set_

def set_array(TensorBase self not None, TensorBase source, storage_offset, size, stride):
    """Have `self` show memory of `source`, all that `source` shows or a part; no memory at all for None.

    Raises
    ------
    RuntimeError
        When dtype or device differ, or when the part lies outside of the memory.
    """
    if source is None:
        source = empty_beside(self)
    check_settable(self, source)
    check_change("set_", self)
    cdef object array = part_of(source, storage_offset, size, stride)
    cdef Node node = NotImplementedNode.of("set_", self, source) if requires_grad_2(self, source) else None
    self.flags &= ~<uint32_t>(IS_VIEW | VIEW_RESTRICTIONS)      # what it was a view of it shows no more
    put_array(self, array)
    if node is not None:
        set_metadata(&node.metadata, self.array)
        set_grad_fn(self, node, 0)
    else:
        renew_accumulator(self)


cdef TensorBase empty_beside(TensorBase self):
    from gradsmith.runtime.graph.tensor import from_array

    return from_array(array_without_data((0,), self.dtype) if is_meta(self.array) else np.empty(0, self.dtype))


cdef int check_settable(TensorBase self, TensorBase source) except -1:
    fill_all((self, source))
    if source.dtype != self.dtype:
        raise RuntimeError(f"set_: Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
    if source.device != self.device:
        raise RuntimeError(
            f"set_: Attempted to set the storage of a tensor on device '{self.device}' to a storage on different device "
            f"'{source.device}'. This is not allowed; the devices must match"
        )
    if has_tangent_2(self, source):
        raise NotImplementedError("set_: forward mode does not support it; use copy_(), or make the dual number after it")
    return 0


cdef object part_of(TensorBase source, object storage_offset, object size, object stride):
    if size is None and (storage_offset is not None or stride is not None):
        raise TypeError("set_(): storage_offset and stride need a size")
    if size is None:
        return (<object>source.array).view()
    if is_meta(source.array):
        return array_without_data(tuple(size), source.dtype)
    steps = contiguous_strides(size, source.itemsize) if stride is None else [n * source.itemsize for n in stride]
    start = ((storage_offset or 0) - source.storage_offset()) * source.itemsize
    array = memory_over(<object>source.array, tuple(size), tuple(steps), start)
    if array is None:
        raise RuntimeError(
            f"set_: size {list(size)}, stride {None if stride is None else list(stride)} and storage_offset "
            f"{storage_offset or 0} are out of bounds for the memory of the source"
        )
    return array


cdef int put_array(TensorBase self, object array) except -1:
    bump_version(self)
    return replace_array(self, array)


cdef class NotImplementedNode(Node):
    """History of what an op without derivative has made: a backward that comes to it raises."""

    @staticmethod
    cdef NotImplementedNode of(str op, TensorBase self, TensorBase other):
        cdef NotImplementedNode node = NotImplementedNode.__new__(NotImplementedNode)
        node.init(2, 0, 1)
        set_value(node, 0, op)
        collect_edge(node, 0, self)
        collect_edge(node, 1, other)
        return node

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        raise RuntimeError(f"derivative for {value_of(self, 0)} is not implemented")

    cpdef str name(self):
        return "NotImplemented"
