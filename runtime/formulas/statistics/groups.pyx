"""Helpers of ops that reduce the elements written to one place; see the .pxd for the types.

A group is the elements of one place: those of `src` that an index sends there, and the element of `self` itself. The
helpers are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.arrays.functions.indexed cimport can_reduce_groups, products_of_groups, reduce_groups
from gradsmith.runtime.arrays.functions.scatter_gather cimport is_addable
from gradsmith.runtime.formulas.formulas cimport scatter_backward_src
from gradsmith.runtime.formulas.numbers cimport wrapped
from gradsmith.runtime.formulas.written cimport changes_memory_alone, is_computed_alone, written
from gradsmith.runtime.graph.tensor cimport array_of

import numpy as np

from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.creation import full, ones


# ---- reductions of groups


cpdef object ordered(object self, object reduce):
    if reduce in ("amax", "amin") and self.is_complex():
        raise NotImplementedError(f"scatter_reduce(): reduce={reduce!r} is not defined for complex numbers, which have no order")
    return self


cpdef object start_of_groups(object self, object dim, object index, object reduce, object include_self):
    """The values that elements of `src` are combined with."""
    return self if include_self else self.scatter(dim, index, neutral(reduce, self.dtype))


cdef object neutral(object reduce, object dtype):
    """The number that changes nothing when it is reduced with others."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max
    return -np.inf if reduce == "amax" else np.inf


cpdef object group_means(object total, object dim, object index, object include_self, object op):
    """The sums of groups divided by how many elements are in them."""
    if total.dtype.kind == "b":
        raise NotImplementedError(f"{op}(): a mean of bool is not defined; convert the tensors with .float()")
    counts = full(total.shape, 1 if include_self else 0, dtype=np.dtype(np.int64), device=total.device)
    one = full((), 1, dtype=np.dtype(np.int64), device=total.device)
    counts = counts.scatter_add(dim, index, one.expand(index.shape)).clamp_min(1)
    if total.dtype.kind in "iu":
        return total.div(counts, rounding_mode="floor").to(total.dtype)
    return total / counts


# ---- the gradients of an extreme


cpdef object group_shares(object gradient, object self, object dim, object index, object src, object value):
    """Equal extrema of a group share its gradient evenly; NaN counts as equal to NaN."""
    mine = (self == value) | self.isnan()
    theirs = (src == scatter_backward_src(value, dim, index, src.shape)) | src.isnan()
    counts = mine.to(gradient.dtype).scatter_add(dim, index, theirs.to(gradient.dtype))
    share = gradient / counts
    of_src = scatter_backward_src(share, dim, index, src.shape)
    return [share.masked_fill(mine.logical_not(), 0), of_src.masked_fill(theirs.logical_not(), 0)]


# ---- products of the others


cpdef object group_products(object self, object dim, object index, object src):
    """For each element of `self`, and each that the index takes of `src`, the product of the others of its group.

    Where these have a history themselves, the elements are sorted by their groups, and what comes before and after each in
    its group is multiplied: without a division, which a zero would spoil.
    """
    if is_computed_alone(self, src) and is_addable(array_of(self)):
        return [from_array(array) for array in products_of_groups(array_of(self), dim, array_of(index), array_of(src))]
    if self.ndim == 0:
        of_self, of_src = group_products(self.reshape(1), 0, index, src)
        return [of_self.reshape(()), of_src]
    if index.numel() == 0:
        return [ones_of(self, self.shape), ones_of(src, src.shape)]
    axis = wrapped(dim, self.ndim)
    sizes = tuple(index.shape) or (1,)
    in_self = tuple([slice(None) if d == axis else slice(size) for d, size in enumerate(sizes)])
    in_src = tuple([slice(size) for size in sizes])
    row = src.reshape(src.shape or (1,))
    mine, theirs = self[in_self], row[in_src]
    places = upcalls.cat([own_places(mine, axis), index.reshape(sizes).to(np.dtype(np.int64))], axis)
    others = products_by_place(upcalls.cat([mine, theirs], axis), places, axis)
    of_self, of_src = others.narrow(axis, 0, self.shape[axis]), others.narrow(axis, self.shape[axis], sizes[axis])
    return [filled_up(of_self, self.shape, in_self), filled_up(of_src, row.shape, in_src).reshape(src.shape)]


cdef object ones_of(object like, object shape):
    return ones(shape, dtype=like.dtype, device=like.device)


cdef object own_places(object self, object axis):
    """The place of each element along the dimension."""
    shape = [1] * self.ndim
    shape[axis] = self.shape[axis]
    return from_array(np.arange(self.shape[axis])).reshape(shape).expand(self.shape).to(self.device)


cdef object filled_up(object part, object shape, object places):
    """Ones, except for the given part."""
    if tuple(part.shape) == tuple(shape):
        return part
    around = np.ones(shape, part.dtype)
    around[places] = 0
    return upcalls.basic_index_backward(part, shape, places) + from_array(around).to(part.device)


cdef object products_by_place(object values, object places, object axis):
    order = places.argsort(axis, stable=True)
    places, sorted_values = places.gather(axis, order), values.gather(axis, order)
    before = products_before(sorted_values, places, axis)
    after = products_before(sorted_values.flip(axis), places.flip(axis), axis).flip(axis)
    return (before * after).gather(axis, order.argsort(axis))


cdef object products_before(object values, object places, object axis):
    """For each element, the product of those before it in its group, in as many steps as the length has bits."""
    cdef object products = one_up(values, places, axis, 1)
    cdef Py_ssize_t step = 1
    while step < values.shape[axis]:
        products = products * one_up(products, places, axis, step)
        step *= 2
    return products


cdef object one_up(object values, object places, object axis, Py_ssize_t step):
    """Every element `step` places up along the dimension; one where another group, or nothing, comes before."""
    length = values.shape[axis]
    if step >= length:
        return ones_of(values, values.shape)
    same = places.narrow(axis, step, length - step) == places.narrow(axis, 0, length - step)
    kept = values.narrow(axis, 0, length - step).masked_fill(same.logical_not(), 1)
    front = ones_of(values, (*values.shape[:axis], step, *values.shape[axis + 1:]))
    return upcalls.cat([front, kept], axis)


# ---- one index per slice


cpdef object places_of_slices(object self, object dim, object index, object source):
    """An index of slices as one of the elements of `source`, which is checked."""
    op = "index_reduce"
    if index.ndim > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector, but has {index.ndim} dimensions")
    if index.dtype not in (np.int32, np.int64):
        raise RuntimeError(f"{op}(): Expected dtype int32/int64 for index but got: {index.dtype}")
    if source.dtype != self.dtype:
        raise RuntimeError(f"{op}(): self ({self.dtype}) and source ({source.dtype}) must have the same dtype")
    if self.dtype.kind in "bc":
        raise NotImplementedError(f"{op}(): not implemented for {self.dtype}")
    axis = wrapped(dim, self.ndim)
    wanted = (*self.shape[:axis], index.numel(), *self.shape[axis + 1:]) if self.ndim else ()
    if tuple(source.shape) != wanted or (self.ndim == 0 and index.numel() != 1):
        raise RuntimeError(
            f"{op}(): source has size {list(source.shape)}, but the input of size {list(self.shape)} and "
            f"{index.numel()} indices along dimension {dim} want {list(wanted)}"
        )
    if self.ndim == 0:
        return index.reshape(())
    return index.reshape([-1 if d == axis else 1 for d in range(self.ndim)]).expand(source.shape)


# ---- in place


cpdef object scatter_reduce_into(object self, object dim, object index, object src, object reduce, object include_self):
    if not changes_memory_alone("scatter_reduce_", self, index, src) or not can_reduce_groups(array_of(self), reduce):
        return False
    reduce_groups(array_of(self), dim, array_of(index), array_of(src), reduce, include_self, "scatter_reduce")
    return written(self)


cpdef object index_reduce_into(object self, object dim, object index, object source, object reduce, object include_self):
    if not changes_memory_alone("index_reduce_", self, index, source) or not can_reduce_groups(array_of(self), reduce):
        return False
    places = places_of_slices(self, dim, index, source)
    reduce_groups(array_of(self), dim, array_of(places), array_of(source), reduce, include_self, "index_reduce")
    return written(self)
