from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from gradsmith.runtime.arrays.array cimport is_batched_array
from gradsmith.runtime.graph.tensor cimport TensorBase

# Batches that live, over all threads. While there is none, nothing needs to look for one.
cdef int living


cdef class VmapLevel:
    cdef readonly Py_ssize_t size
    cdef readonly uint64_t number           # greater than those of the calls around it
    cdef readonly str randomness
    cdef readonly bint is_open
    cdef public bint has_history            # does any data of the level require grad
    cdef readonly object call               # for errors: what `vmap` was called on
    cdef readonly bint is_trace             # a level without slices, at which ops are written down; see runtime/programs


cdef class Batch:
    cdef TensorBase physical                # the data: dimension 0 counts the slices
    cdef VmapLevel level
    cdef Py_ssize_t slot                    # of a traced tensor: the number of its value in the program


cdef inline bint is_batched(TensorBase t) noexcept:
    return living != 0 and t is not None and is_batched_array(t.array)


cdef Batch batch_of(PyObject *array)                            # of the array of a batched tensor
cdef Batch open_batch_of(TensorBase t)                          # refuses one that outlived its level
cdef VmapLevel innermost_level(object operands, VmapLevel found=*)   # of tensors in tuples and lists; None
cdef TensorBase as_batched(TensorBase physical, VmapLevel level)
cdef TensorBase leading(TensorBase t, VmapLevel level)          # the data with the slices in dimension 0, expanded if need be

# The trace of this thread, or None. While it is set aside, ops run as ever.
cdef VmapLevel current_trace()
cdef VmapLevel swap_trace(VmapLevel trace)
cdef TensorBase as_traced(TensorBase physical, VmapLevel trace, Py_ssize_t slot)

# An array of one slice, laid out as all of them are, over the memory of the data; not to be read.
cdef object slice_of_array(object array)
cdef bint share_memory_of_batches(PyObject *array, PyObject *view) except -1

ctypedef void (*batch_listener)(int in_use) noexcept
cdef void report_batches_to(batch_listener listener) noexcept   # when the first batch is made, and when the last dies
