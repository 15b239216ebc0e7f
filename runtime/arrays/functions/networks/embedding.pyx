"""Rows of a table by their indices, and their sums, which is the transpose."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.functions.ownership cimport fresh_beside, fresh_zeros
from gradsmith.runtime.arrays.functions.scatter_gather cimport (
    add_rows, int64_index, is_addable, is_within, sum_dtype, take_rows,
)

cnp.import_array()


cpdef object embedded_of(object weight, object indices, Py_ssize_t padding_idx, bint scale_grad_by_freq, bint sparse):
    """The rows that `indices` name. What else there is to say is about the gradient."""
    if weight.ndim != 2:
        raise RuntimeError(f"embedding(): 'weight' must be 2-D, a row for each index, but its size is {list(weight.shape)}")
    places = checked(indices, weight.shape[0])
    if cnp.PyArray_IS_C_CONTIGUOUS(weight) or is_meta(<PyObject *>weight):
        return take_rows(weight, 0, 1, places)
    return weight[places]       # without a copy of the table


cpdef object rows_summed_of(object a, object indices, Py_ssize_t count):
    """A table of `count` rows, each the sum of the rows of `a`, of shape (*indices.shape, width), that name it."""
    if a.ndim == 0 or a.shape[:a.ndim - 1] != indices.shape:
        raise RuntimeError(f"rows of shape {list(a.shape)} do not go with indices of shape {list(indices.shape)}")
    shape = (count, a.shape[a.ndim - 1])
    places = checked(indices, count)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>places):
        return fresh_beside(a if is_meta(<PyObject *>a) else places, cnp.PyArray_TYPE(a), shape)
    sums = fresh_zeros(sum_dtype(a).num, shape)
    add_rows(sums, 0, 1, places, a.astype(sums.dtype, copy=False))
    return sums.astype(a.dtype, copy=False)


def add_to_rows(cnp.ndarray target not None, cnp.ndarray indices not None, cnp.ndarray values not None):
    """target[indices] += values, in place, a repeated index as often as it comes."""
    add_checked_rows(target, int64_index(indices), values)


cdef int add_checked_rows(object target, object places, object values) except -1:
    cdef npy_intp wrong = 0
    if target.ndim == 0 or values.shape != (places.size, *target.shape[1:]):
        raise ValueError(f"{values.shape} rows do not fit {places.size} indices of a table of shape {target.shape}")
    if not is_within(places, 0, len(target), &wrong):
        raise IndexError(f"index {wrong} of a table of {len(target)} rows")
    if is_addable(target) and cnp.PyArray_IS_C_CONTIGUOUS(target) and cnp.PyArray_ISBEHAVED(target):
        return add_rows(target, 0, 1, places, values.astype(target.dtype, copy=False))
    wide = target.astype(sum_dtype(target), order="C")
    add_rows(wide, 0, 1, places, values.astype(wide.dtype, copy=False))
    target[...] = wide
    return 0


cdef object checked(object indices, npy_intp count):
    """The indices as int64, each from 0 to `count`."""
    cdef npy_intp wrong = 0
    if indices.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{indices.dtype} instead (while checking arguments for embedding)"
        )
    places = int64_index(indices)
    if not is_within(places, 0, count, &wrong):
        raise IndexError(
            f"index out of range in self: embedding() has a table of {count} rows, but index {wrong} was asked for"
        )
    return places
