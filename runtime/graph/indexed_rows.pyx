"""Indexed gradients: those of a table of which a few rows were used.

Note [Indexed gradients]
The gradient of an embedding is zero but for the rows that were looked up. With ``sparse=True`` it is not spread over the
table: it is a tensor of the table's shape whose array is a stand-in (kernels/meta.h), and whose base, an `IndexedRows`,
has the rows and their indices, an index perhaps more than once. The engine and leaves add such gradients by putting
their rows one after the other.

To everybody else it is a tensor like any other. The first op that it is an operand of, and whoever asks for its
memory, fills it: its stand-in is replaced by an array with all rows. So nothing has to know of indexed gradients, and
whoever does, such as an optimizer, asks for `is_sparse`, `indices()` and `values()` before.
"""
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport indexed_array
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap, wrap_owned

import numpy as np

from gradsmith.runtime.arrays.functions.networks.embedding import add_to_rows

cnp.import_array()

cdef int living = 0


cdef void report_to_nobody(int in_use) noexcept:
    pass


cdef rows_listener report = report_to_nobody


cdef void report_rows_to(rows_listener listener) noexcept:
    global report
    report = listener


cdef class IndexedRows:
    """The base of the array of an indexed gradient. See Note [Indexed gradients]."""

    def __cinit__(self):
        global living
        living += 1
        if living == 1:
            report(1)

    def __dealloc__(self):
        global living
        living -= 1
        if not living:
            report(0)


def indexed_tensor(
    cnp.ndarray indices not None, cnp.ndarray values not None, object shape, bint is_coalesced=False
):
    """A tensor of zeros but for some rows.

    Parameters
    ----------
    indices : ndarray
        int64, of shape (n,), each below the first size in `shape`.
    values : ndarray
        Of shape (n, *shape[1:]): what is added to the row that the index names.
    shape : tuple of int
    is_coalesced : bool
        Are the indices different and in order?
    """
    cdef IndexedRows rows = IndexedRows.__new__(IndexedRows)
    rows.indices, rows.values, rows.is_coalesced = indices, values, is_coalesced
    check_fit(rows, tuple(shape))
    return stand_in_for(rows, tuple(shape))


cdef int check_fit(IndexedRows rows, tuple shape) except -1:
    of_indices, of_values = rows.indices.shape, rows.values.shape
    if len(of_indices) != 1 or not of_values or of_values[0] != of_indices[0] or of_values[1:] != shape[1:] or not shape:
        raise ValueError(f"indices of shape {of_indices} and rows of shape {of_values} do not fit a table of shape {shape}")
    if rows.indices.dtype != np.int64 or rows.values.dtype.kind not in "fc" or not rows.values.dtype.isnative:
        raise TypeError(f"indices are int64 and rows of a floating dtype, not {rows.indices.dtype} and {rows.values.dtype}")
    return 0


cdef TensorBase stand_in_for(IndexedRows rows, tuple shape):
    cdef npy_intp[64] dims
    cdef int i
    for i in range(len(shape)):
        dims[i] = shape[i]
    return wrap_owned(indexed_array(cnp.PyArray_TYPE(rows.values), len(shape), dims, rows))


cdef IndexedRows rows_of(TensorBase t):
    if not is_indexed(t):
        raise TypeError(f"a tensor of shape {list(t.shape)} is no indexed gradient")
    return <IndexedRows>cnp.PyArray_BASE(<cnp.ndarray>t.array)


def indexed_rows(TensorBase tensor not None):
    """The rows of an indexed gradient; None when it has been filled, and for any other tensor."""
    return rows_of(tensor) if is_unfilled(tensor) else None


cdef TensorBase sharing_rows(TensorBase t):
    return stand_in_for(rows_of(t), tuple(t.shape))


cdef bint is_unfilled(TensorBase t) except -1:
    """False also where only an alias has been filled: it may have been written."""
    return is_indexed(t) and rows_of(t).filled is None


# ---- filling

cdef int fill(TensorBase t) except -1:
    """Swap the array in place; all aliases share the new one."""
    cdef IndexedRows rows = rows_of(t)
    if rows.filled is None:
        rows.filled = with_all_rows(rows, tuple(t.shape))
    cdef TensorBase filled = wrap(rows.filled)
    t.array, filled.array = filled.array, t.array
    return 0


cdef object with_all_rows(IndexedRows rows, tuple shape):
    array = np.zeros(shape, rows.values.dtype)
    add_to_rows(array, rows.indices, rows.values)
    return array


cdef int fill_all(object operands) except -1:
    for operand in operands:
        if isinstance(operand, TensorBase):
            if is_indexed(<TensorBase>operand):
                fill(<TensorBase>operand)
        elif isinstance(operand, (tuple, list)):
            fill_all(operand)
    return 0


def fill_tensor(TensorBase tensor not None):
    """Make an ordinary tensor of an indexed gradient."""
    if is_indexed(tensor):
        fill(tensor)


# ---- sums

cdef object sum_of_rows(TensorBase a, TensorBase b):
    cdef IndexedRows one, other
    if not is_unfilled(a) or not is_unfilled(b):
        return None
    one, other = rows_of(a), rows_of(b)
    return indexed_tensor(
        np.concatenate((one.indices, other.indices)), np.concatenate((one.values, other.values)), a.shape
    )


cdef int add_rows_to(object array, TensorBase rows) except -1:
    cdef IndexedRows added = rows_of(rows)
    if added.filled is not None:
        array += added.filled
        return 0
    add_to_rows(array, added.indices, added.values)
    return 0


def sharing(TensorBase tensor not None):
    """Another indexed gradient of the same rows."""
    cdef IndexedRows rows = rows_of(tensor)
    return indexed_tensor(rows.indices, rows.values, tensor.shape, rows.is_coalesced)


def coalesced(TensorBase tensor not None):
    """The same gradient with one row for each index, in order."""
    cdef IndexedRows rows = rows_of(tensor)
    if rows.is_coalesced:
        return tensor
    indices, places = np.unique(rows.indices, return_inverse=True)
    sums = np.zeros((len(indices), *tensor.shape[1:]), rows.values.dtype)
    add_to_rows(sums, places.astype(np.int64, copy=False), rows.values)
    return indexed_tensor(indices, sums, tensor.shape, True)
