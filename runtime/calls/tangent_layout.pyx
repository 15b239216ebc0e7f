"""The form of a tangent: shape, dtype and memory laid out like that of its tensor, and batched where it has to be.

A view of a tensor finds its part of the tangent by its own place in the memory of the tensor. So a tangent has the
strides of its tensor, also where these leave gaps.
"""
from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.overlap cimport may_overlap_itself
from gradsmith.runtime.batching.batch cimport (
    VmapLevel,
    as_batched,
    batch_of,
    current_trace,
    is_batched,
    slice_of_array,
)
from gradsmith.runtime.graph.tensor cimport IS_TANGENT, TensorBase, wrap

import math
from operator import attrgetter

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object view_geometry = LazyModule("gradsmith.runtime.arrays.functions.view_geometry")

cnp.import_array()


cdef TensorBase fitting(TensorBase t, TensorBase value):
    """`value` in the shape and dtype of `t`, broadcast or summed; a real tensor takes the real part."""
    if value.shape != t.shape:
        value = upcalls.expand(value, t.shape) if broadcasts_to(value, t) else upcalls.sum_to(value, t.shape)
    if value.dtype != t.dtype:
        if value.is_complex() and not t.is_complex():
            value = upcalls.real(value)
        value = upcalls.to(value, t.dtype)
    return value


cdef bint broadcasts_to(TensorBase value, TensorBase t) noexcept:
    cdef int missing = cnp.PyArray_NDIM(<cnp.ndarray>t.array) - cnp.PyArray_NDIM(<cnp.ndarray>value.array), i
    if missing < 0:
        return False
    for i in range(cnp.PyArray_NDIM(<cnp.ndarray>value.array)):
        size = cnp.PyArray_DIM(<cnp.ndarray>value.array, i)
        if size != 1 and size != cnp.PyArray_DIM(<cnp.ndarray>t.array, missing + i):
            return False
    return True


cdef TensorBase laid_out_like(TensorBase t, TensorBase value):
    """`value` in memory of its own with the strides of `t`: a view of `t` has to find its part in it."""
    if value.base == NULL and not value.flags & IS_TANGENT and lie_in_one_order(t, value):
        return value
    return copied_like(t, value, ())


cdef bint lie_in_one_order(TensorBase t, TensorBase value) except -1:
    if not is_batched(t) and not is_batched(value):
        return same_strides(t.array, value.array)
    if is_batched(t) and not (is_batched(value) and batch_of(value.array).level.number >= batch_of(t.array).level.number):
        return False
    layout, other = slice_of_array(<object>t.array), slice_of_array(<object>value.array)
    return same_strides(<PyObject *>layout, <PyObject *>other)


cdef bint same_strides(PyObject *a, PyObject *b) noexcept:
    cdef int i
    if not cnp.PyArray_SIZE(<cnp.ndarray>a):
        return True
    for i in range(cnp.PyArray_NDIM(<cnp.ndarray>a)):
        if cnp.PyArray_DIM(<cnp.ndarray>a, i) > 1 and (
            cnp.PyArray_STRIDE(<cnp.ndarray>a, i) != cnp.PyArray_STRIDE(<cnp.ndarray>b, i)
        ):
            return False
    return True


# ---- memory for tangents

cdef TensorBase copied_like(TensorBase t, TensorBase value, tuple guests):
    """A copy of `value` laid out like `t`, which can be written with `guests` too."""
    if is_meta(value.array) and not is_batched(value):
        return upcalls.clone(value)
    return upcalls.copy_(zeros_like(t, (value, *guests)), value)


cdef TensorBase zeros_like(TensorBase t, tuple guests):
    """Zeros laid out like `t`, a batch wherever `t` or one of `guests` is one."""
    cdef list levels = levels_of_batches((t, *guests))
    cdef VmapLevel level
    cdef TensorBase result
    if not levels and current_trace() is None:
        return wrap(<object>t.array if is_meta(t.array) else zeros_in_layout(<object>t.array, ()))
    sizes = tuple([level.size for level in levels])
    if is_meta(data_of(t).array):
        result = wrap(array_without_data((*sizes, *t.shape), t.dtype))
    else:
        result = wrap(zeros_in_layout(slice_of_array(<object>t.array), sizes))
    if current_trace() is not None:
        result = (<object>current_trace()).constant(result)
    for level in levels:
        result = as_batched(result, level)
    return result


cdef list levels_of_batches(tuple tensors):
    """The levels at which any of the tensors, or its data, is batched, old to young."""
    cdef set found = set()
    cdef TensorBase t
    for tensor in tensors:
        t = <TensorBase>tensor
        while t is not None and is_batched(t):
            found.add(batch_of(t.array).level)
            t = batch_of(t.array).physical
    return sorted([level for level in found if not level.is_trace], key=attrgetter("number"))


cdef TensorBase data_of(TensorBase t):
    while is_batched(t):
        t = batch_of(t.array).physical
    return t


cdef object zeros_in_layout(object array, tuple sizes):
    """Zeros for arrays of the layout of `array`, side by side along `sizes`."""
    if cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>array):
        return np.zeros((*sizes, *array.shape), array.dtype)
    compact = np.zeros_like(array)
    if same_strides(<PyObject *>compact, <PyObject *>array) or view_geometry.overlaps_itself(array):
        array = compact
        if not sizes:
            return compact
    low, high = byte_bounds(array)
    extent = high - low
    memory = np.zeros(math.prod(sizes) * extent, np.uint8)
    steps = [extent * math.prod(sizes[n + 1:]) for n in range(len(sizes))]
    first = array.__array_interface__["data"][0] - low
    return np.ndarray((*sizes, *array.shape), array.dtype, memory, first, (*steps, *array.strides))


cdef bint has_room_for(TensorBase present, TensorBase tangent) except -1:
    """Is `present` batched wherever `tangent` is, so that it can be written with it?"""
    if tangent is None or not is_batched(tangent):
        return True
    return set(levels_of_batches((tangent,))) <= set(levels_of_batches((present,)))


cdef bint overlaps_itself(TensorBase t) except -1:
    if is_meta(data_of(t).array):
        return False
    shown = slice_of_array(<object>t.array)
    return may_overlap_itself(<cnp.ndarray>shown) and view_geometry.overlaps_itself(shown)
