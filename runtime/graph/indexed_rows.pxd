from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport is_indexed_array
from gradsmith.runtime.graph.tensor cimport TensorBase

# Indexed gradients that live, over all threads. While there is none, nothing needs to look for one.
cdef int living


cdef class IndexedRows:
    cdef readonly object indices            # int64, one for each row of `values`; never written
    cdef readonly object values             # shared by gradients, and not written by any op
    cdef readonly bint is_coalesced         # are the indices different and in order
    cdef object filled                      # the array with all rows, once somebody has asked for it


cdef inline bint is_indexed(TensorBase t) noexcept:
    return living != 0 and t is not None and is_indexed_array(t.array)


cdef int fill(TensorBase t) except -1                           # an ordinary tensor from now on
cdef int fill_all(object operands) except -1                    # those among tensors in tuples and lists
cdef bint is_unfilled(TensorBase t) except -1                   # does it, and no alias, have the rows alone
cdef TensorBase sharing_rows(TensorBase t)                      # another tensor of the same rows
cdef object sum_of_rows(TensorBase a, TensorBase b)             # a new tensor; None unless both are indexed
cdef int add_rows_to(object array, TensorBase rows) except -1   # in place

ctypedef void (*rows_listener)(int in_use) noexcept
cdef void report_rows_to(rows_listener listener) noexcept       # when the first is made, and when the last is gone
