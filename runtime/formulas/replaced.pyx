"""Helpers of ops that replace a part of a tensor, pad it, or sum it up; see the .pxd for the types.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from libc.string cimport memcpy
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport empty_array, full_array
from gradsmith.runtime.arrays.functions.indexed cimport masked_scatter
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, take
from gradsmith.runtime.arrays.functions.pointwise cimport clone_of
from gradsmith.runtime.formulas.formulas cimport strided_geometry
from gradsmith.runtime.formulas.numbers cimport wrapped
from gradsmith.runtime.formulas.written cimport is_computed_alone
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of

import numpy as np

from gradsmith.runtime.arrays.array import element_of
from gradsmith.runtime.arrays.functions.shapes import broadcast_shape
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule
from gradsmith.runtime.tensors.factories.creation import full, tensor

cnp.import_array()

cdef extern from "runtime/arrays/kernels/short_copy.h":
    void copy_few "gs_copy_few"(char *to, const char *source, npy_intp n) noexcept nogil

cdef object strided = LazyModule("gradsmith.runtime.arrays.strided")


# ---- replaced


cpdef object with_selected(object self, object src, object dim, object index):
    axis = wrapped(dim, self.ndim)
    length = self.shape[axis]
    if not -length <= index < length:
        raise IndexError(
            f"select_scatter(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        )
    check_sizes("select_scatter", src, (*self.shape[:axis], *self.shape[axis + 1:]))
    return with_rows(self, src.unsqueeze(axis), axis, [index % length])


cpdef object with_slice(object self, object src, object dim, object start, object end, object step):
    if step <= 0:
        raise RuntimeError(f"slice_scatter(): slice step must be positive, but is {step}")
    axis = wrapped(dim, self.ndim)
    places = range(*slice(start, end, step).indices(self.shape[axis]))
    check_sizes("slice_scatter", src, (*self.shape[:axis], len(places), *self.shape[axis + 1:]))
    return with_rows(self, src, axis, places)


cdef object with_rows(object self, object src, object axis, object places):
    index = from_array(np.array(places, np.int64))
    return self.index_put((*(slice(None),) * axis, index), src.to(self.dtype))


cdef int check_sizes(op, object src, object wanted) except -1:
    if tuple(src.shape) != tuple(wanted):
        raise RuntimeError(
            f"{op}(): expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(wanted)}"
        )
    return 0


cpdef object with_masked(object self, object mask, object source):
    if is_computed_alone(self, source):
        array = clone_of(array_of(self))
        if masked_scatter(array, array_of(mask), array_of(source)):
            return from_array(array)
    if mask.dtype != np.bool_:
        raise RuntimeError(f"masked_scatter(): only supports boolean masks, but got mask with dtype {mask.dtype}")
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"masked_scatter(): expected self and source to have same dtypes but got {self.dtype} and {source.dtype}"
        )
    shape = broadcast_shape(self.shape, mask.shape)
    below, chosen = self.expand(shape), mask.expand(shape)
    if below.numel() == 0:
        return below.clone()
    if source.numel() == 0:
        source = source.new_zeros(1) if not chosen.any() else source
    numbers = (chosen.reshape(-1).cumsum(0) - 1).clamp_min(0)
    try:
        found = source.reshape(-1)[numbers]
    except IndexError:
        raise RuntimeError(
            f"masked_scatter(): source has {source.numel()} elements, fewer than the mask has true ones"
        ) from None
    return upcalls.where(chosen, found.reshape(shape), below)


cpdef object with_strided(object self, object src, object size, object stride, object storage_offset):
    cdef Py_ssize_t first = place_of_elements_apart(self, size, stride, storage_offset)
    if first >= 0 and tuple(src.shape) == tuple(size) and not is_batched_tensor(src):
        result = self.clone()
        result.as_strided(size, stride, first).copy_(src.to(self.dtype))
        return result
    geometry = strided_geometry(self, size, stride, storage_offset)
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(
            f"as_strided_scatter(): expected src to have the size of the view, {list(size)}, but it is {list(src.shape)}"
        )
    source, target, sharers, is_plain = strided.common_places(geometry)
    last = np.full(sharers.size, -1)
    last[target] = np.arange(target.size)
    chosen = (last if is_plain else last[source]).reshape(geometry.from_size)
    if not (chosen >= 0).any():
        return self.clone()
    numbers, is_replaced = [tensor(array, device=self.device) for array in (np.maximum(chosen, 0), chosen >= 0)]
    return upcalls.where(is_replaced, src.to(self.dtype).reshape(-1)[numbers], self)


cdef Py_ssize_t place_of_elements_apart(object self, object size, object stride, object storage_offset) except -2:
    """Where a view of these strides begins in `self`; -1 unless it shows elements of `self`, none of them twice."""
    cdef Py_ssize_t first = 0, reach = 0, length, step
    if is_batched_tensor(self) or len(size) != len(stride) or not self.is_contiguous():
        return -1
    if storage_offset is not None:
        first = storage_offset - self.storage_offset()
    for step, length in sorted(zip(stride, size)):
        if length < 1 or length > 1 and step <= reach:
            return -1
        reach += (length - 1) * step
    return first if first >= 0 and first + reach < self.numel() else -1


# ---- summed


cpdef object summed_to_size(object self, object size):
    extra = self.ndim - len(size)
    if extra < 0 or any([wanted not in (1, there) for wanted, there in zip(size, self.shape[extra:])]):
        raise RuntimeError(f"sum_to_size(): size {list(size)} is not expandable to size {list(self.shape)}")
    if not size:
        return self.sum()       # which counts bools, as it does where there are dimensions
    return self if tuple(size) == tuple(self.shape) else upcalls.sum_to(self, tuple(size))


# ---- padded


cpdef object padded(object self, object pad, object value):
    check_pad(self, pad)
    value = element_of(value, self.dtype).item()
    if is_computed_alone(self, None) and self.is_contiguous():
        return from_array(padded_array(array_of(self), pad, value))
    result = self
    for number in range(len(pad) // 2):
        result = padded_along(result, self.ndim - 1 - number, pad[2 * number], pad[2 * number + 1], value)
    return self.clone() if result is self else result


cdef int check_pad(object self, object pad) except -1:
    if len(pad) % 2:
        raise RuntimeError(f"constant_pad_nd(): Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "constant_pad_nd(): Length of pad should be no more than twice the number of dimensions of the input. Pad "
            f"length is {len(pad)} while the input has {self.ndim} dimensions"
        )
    for number in range(len(pad) // 2):
        size = self.shape[self.ndim - 1 - number] + min(pad[2 * number], 0) + min(pad[2 * number + 1], 0)
        if size < 0:
            raise RuntimeError(
                f"constant_pad_nd(): the size {list(self.shape)} with the padding {list(pad)} would keep {size} "
                "elements of a dimension; less must be cut off"
            )
    return 0


cdef object padded_array(object array, object pad, object value):
    """All dimensions at once, for values by rows and without a history."""
    cdef Padding p
    cdef npy_intp[MAX_DIMS] sizes, first
    cdef int ndim = cnp.PyArray_NDIM(array), dim
    cdef npy_intp before, after, stop, place
    for dim in range(ndim):
        before = pad[2 * (ndim - 1 - dim)] if 2 * (ndim - 1 - dim) < len(pad) else 0
        after = pad[2 * (ndim - 1 - dim) + 1] if 2 * (ndim - 1 - dim) < len(pad) else 0
        first[dim] = min(max(-before, 0), cnp.PyArray_DIM(array, dim))
        stop = max(cnp.PyArray_DIM(array, dim) + min(after, 0), first[dim])
        p.before[dim], p.count[dim] = max(before, 0), stop - first[dim]
        sizes[dim] = p.before[dim] + p.count[dim] + max(after, 0)
    result = take(empty_array(cnp.PyArray_TYPE(array), ndim, sizes))
    filling = take(full_array(cnp.PyArray_TYPE(array), 0, NULL, value))
    p.ndim, p.item_size = ndim, cnp.PyArray_ITEMSIZE(array)
    for place in range(PATTERN // p.item_size):
        memcpy(&p.pattern[place * p.item_size], cnp.PyArray_BYTES(filling), p.item_size)
    cdef npy_intp step = p.item_size, span = p.item_size
    cdef const char *source = cnp.PyArray_BYTES(array)
    for dim in range(ndim - 1, -1, -1):
        p.step[dim], p.span[dim] = step, span
        p.after[dim] = sizes[dim] - p.before[dim] - p.count[dim]
        source += first[dim] * step
        step *= cnp.PyArray_DIM(array, dim)
        span *= sizes[dim]
    cdef char *to = cnp.PyArray_BYTES(result)
    with nogil:
        write_padded(&p, 0, source, to)
    return result


cdef enum:
    PATTERN = 64

cdef struct Padding:
    int ndim
    npy_intp[MAX_DIMS] before, count, after     # along each dimension: filled, kept, filled
    npy_intp[MAX_DIMS] step, span               # in bytes, from one place to the next in the source and in the result
    char[PATTERN] pattern                       # what is filled in, again and again
    npy_intp item_size


cdef char *write_padded(const Padding *p, int dim, const char *source, char *to) noexcept nogil:
    """Write the part of the result that goes over the dimensions from one on; where the next part goes."""
    cdef npy_intp i
    if dim >= p.ndim - 1:
        return write_rows(p, 1, source, 0, to)
    to = write_filling(p, to, p.before[dim] * p.span[dim])
    if dim == p.ndim - 2:
        to = write_rows(p, p.count[dim], source, p.step[dim], to)
    else:
        for i in range(p.count[dim]):
            to = write_padded(p, dim + 1, source + i * p.step[dim], to)
    return write_filling(p, to, p.after[dim] * p.span[dim])


cdef char *write_rows(const Padding *p, npy_intp rows, const char *source, npy_intp step, char *to) noexcept nogil:
    """Rows of the last dimension; what follows one and what precedes the next are filled together."""
    cdef npy_intp row, last = p.ndim - 1
    cdef npy_intp before = p.before[last] * p.item_size if p.ndim else 0
    cdef npy_intp kept = p.count[last] * p.item_size if p.ndim else p.item_size
    cdef npy_intp after = p.after[last] * p.item_size if p.ndim else 0
    if rows == 0:
        return to
    to = write_filling(p, to, before)
    for row in range(rows):
        copy_few(to, source + row * step, kept)
        to = write_filling(p, to + kept, after + before if row < rows - 1 else after)
    return to


cdef char *write_filling(const Padding *p, char *to, npy_intp size) noexcept nogil:
    """The pattern in so many bytes."""
    cdef npy_intp written = min(size, PATTERN), more
    copy_few(to, p.pattern, written)
    while written < size:               # what is written already once more
        more = min(written, size - written)
        memcpy(to + written, to, more)
        written += more
    return to + size


cdef object padded_along(object self, int dim, object before, object after, object value):
    """Negative numbers cut off."""
    if before < 0 or after < 0:
        first = min(max(-before, 0), self.shape[dim])
        stop = max(self.shape[dim] + min(after, 0), first)
        self = self.narrow(dim, first, stop - first)
    parts = [constant(self, dim, before, value)] if before > 0 else []
    parts.append(self)
    if after > 0:
        parts.append(constant(self, dim, after, value))
    return upcalls.cat(parts, dim) if len(parts) > 1 else self


cdef object constant(object like, int dim, object length, object value):
    shape = (*like.shape[:dim], length, *like.shape[dim + 1:])
    return full(shape, value, dtype=like.dtype, device=like.device)
