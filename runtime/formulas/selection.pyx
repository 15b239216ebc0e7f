"""Helpers of ops that read and write elements by their places; see the .pxd for the types."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.functions.indexed cimport filling, index_put_of
from gradsmith.runtime.arrays.functions.scatter_gather cimport int64_index
from gradsmith.runtime.batching.batch cimport current_trace, is_batched
from gradsmith.runtime.calls.arguments cimport arrays_in
from gradsmith.runtime.formulas.numbers cimport wrapped
from gradsmith.runtime.formulas.written cimport is_computed_alone
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of, wrap

from functools import partial

import numpy as np

from gradsmith.runtime.batching.checked_values import check_values
from gradsmith.runtime.tensors.factories.creation import zeros

cnp.import_array()


cdef int check_index(op, object index) except -1:
    if isinstance(index, TensorBase) and cnp.PyArray_TYPE(<cnp.ndarray>(<TensorBase>index).array) == cnp.NPY_INT64:
        return 0
    if index.dtype != np.int64:
        raise RuntimeError(f"{op}(): Expected an int64 tensor for index, but got {index.dtype}")
    return 0


cpdef object elements_at(object self, object index):
    check_index("take", index)
    if self.numel() == 0 and index.numel():
        raise IndexError("take(): tried to take from an empty tensor")
    return (self if self.ndim == 1 else self.reshape(-1)).index((index,))


cpdef object elements_along(object self, object indices, object dim):
    check_index("take_along_dim", indices)
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    axis = wrapped(dim, self.ndim)
    if self.ndim == 0:
        return self.gather(0, indices)
    others, own = beside(self.shape, axis), beside(indices.shape, axis)
    if not (is_computed_alone(self, indices) and least_of(array_of(indices)) >= 0):
        indices = indices.where(indices >= 0, indices + self.shape[axis])      # from the end, which `gather` refuses
    if others == own:
        return self.gather(axis, indices)
    sizes = np.broadcast_shapes(others, own)
    left, right = sizes[:axis], sizes[axis + 1:]
    return self.expand(*left, self.shape[axis], *right).gather(axis, indices.expand(*left, indices.shape[axis], *right))


cdef tuple beside(object shape, object axis):
    """The sizes of the other dimensions."""
    return (*shape[:axis], 1, *shape[axis + 1:])


cpdef object with_elements_at(object self, object index, object source, object accumulate):
    check_elements(self, index, source)
    flat = self.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(self.shape)


cdef int check_elements(object self, object index, object source) except -1:
    check_index("put", index)
    if index.numel() != source.numel():
        raise IndexError(
            "put(): Expected source and index to have the same number of elements, but got "
            f"{source.numel()} and {index.numel()}"
        )
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"put(): self and source expected to have the same dtype, but got {self.dtype} and {source.dtype}"
        )
    return 0


cpdef object with_elements_at_into(object self, object index, object source, object accumulate):
    if not self.is_contiguous():
        return self.copy_(with_elements_at(self.clone(), index, source, accumulate))
    check_elements(self, index, source)
    self.view(-1).index_put_((index.reshape(-1),), source.reshape(-1), accumulate)
    return self


cdef tuple WHOLE = (slice(None),)


cdef tuple along(object self, object dim, object index, op):
    cdef int ndim = index.ndim
    if ndim > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector, but has {ndim} dimensions")
    check_index(op, index)
    return WHOLE * wrapped(dim, self.ndim) + (index if ndim else index.reshape(-1),)


cpdef object filled_along(object self, object dim, object index, object value):
    check_filling(value)
    if self.ndim == 0:
        return filled_along(self.reshape(1), dim, index, value).reshape(())
    if not isinstance(value, TensorBase) and is_computed_alone(self, index):
        places, element = along(self, dim, index, "index_fill"), filling("masked_fill", value, self.dtype)
        return wrap(index_put_of(array_of(self), arrays_in(places), element, False))
    mask = zeros(self.shape, dtype=np.dtype(bool), device=self.device)
    return self.masked_fill(mask.index_put(along(self, dim, index, "index_fill"), True), value)


cpdef object filled_along_into(object self, object dim, object index, object value):
    check_filling(value)
    if isinstance(value, TensorBase):       # whose gradient counts an element once that is named twice
        return self.copy_(filled_along(self.clone(), dim, index, value))
    if self.ndim == 0:
        filled_along_into(self.view(1), dim, index, value)
        return self
    return self.index_put_(along(self, dim, index, "index_fill"), value)


cdef int check_filling(object value) except -1:
    if isinstance(value, TensorBase) and value.ndim:
        raise RuntimeError(f"index_fill(): only supports a 0-dimensional value tensor, but got {value.ndim} dimensions")
    return 0


cpdef object copied_along(object self, object dim, object index, object source):
    if self.ndim == 0:
        check_copied(self, source)
        return copied_along(self.reshape(1), dim, index, source.reshape(-1)).reshape(())
    return self.index_put(*copied_slices(self, dim, index, source))


cpdef object copied_along_into(object self, object dim, object index, object source):
    if self.ndim == 0:
        check_copied(self, source)
        copied_along_into(self.view(1), dim, index, source.reshape(-1))
        return self
    return self.index_put_(*copied_slices(self, dim, index, source))


cdef int check_copied(TensorBase self, TensorBase source) except -1:
    if (<cnp.ndarray>source.array).descr is not (<cnp.ndarray>self.array).descr and source.dtype != self.dtype:
        raise RuntimeError(
            f"index_copy(): self and source expected to have the same dtype, but got {self.dtype} and {source.dtype}"
        )
    return 0


cdef tuple copied_slices(object self, object dim, object index, object source):
    """Where slices go, and they themselves."""
    check_copied(self, source)
    places = along(self, dim, index, "index_copy")
    axis = wrapped(dim, self.ndim)
    check_from_start(index, axis, self.shape[axis])
    if replaces(array_of(self), axis, array_of(index), array_of(source)):
        return places, source
    wanted = (*self.shape[:axis], index.numel(), *self.shape[axis + 1:])
    if source.ndim == 0 and wanted == (1,):
        source = source.reshape(1)
    if tuple(source.shape) != wanted:
        raise IndexError(
            f"index_copy(): source has size {list(source.shape)}, but the input of size {list(self.shape)} and "
            f"{index.numel()} indices along dimension {dim} want {list(wanted)}"
        )
    return places, source


cdef bint replaces(cnp.ndarray a, int axis, cnp.ndarray index, cnp.ndarray source) noexcept:
    """Has the source one slice for each index?"""
    cdef int dim, ndim = cnp.PyArray_NDIM(a)
    if cnp.PyArray_NDIM(source) != ndim:
        return False
    for dim in range(ndim):
        if cnp.PyArray_DIM(source, dim) != (cnp.PyArray_SIZE(index) if dim == axis else cnp.PyArray_DIM(a, dim)):
            return False
    return True


cdef int check_from_start(TensorBase index, object dim, object size) except -1:
    """As in PyTorch, `index_copy` counts from the start alone, other than `index_fill`."""
    if is_batched(index) or current_trace() is not None:
        check_values(partial(expect_from_start, dim, size), index)
    else:
        expect_from_start(dim, size, index)
    return 0


def expect_from_start(dim, size, TensorBase index not None):
    cdef cnp.npy_int64 least = least_of(array_of(index))
    if least < 0:
        raise IndexError(f"index_copy(): index {least} is out of bounds for dimension {dim} with size {size}")


cdef cnp.npy_int64 least_of(object index) except? -1:
    """The least of the places that an int64 index names, or 0; also on the meta device."""
    cdef cnp.npy_int64 least = 0
    cdef const cnp.npy_int64 *places
    cdef npy_intp i
    if is_meta(<PyObject *>index):
        return 0
    index = int64_index(index)
    places = <const cnp.npy_int64 *>cnp.PyArray_DATA(<cnp.ndarray>index)
    for i in range(cnp.PyArray_SIZE(<cnp.ndarray>index)):
        least = min(least, places[i])
    return least
