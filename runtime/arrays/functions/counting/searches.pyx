"""Places at which to insert elements into ascending rows; see Note [Searches side by side] in searches_kernels.c."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, contiguous, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes, take

import numpy as np

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/counting/searches_kernels.h":
    ctypedef struct Search "gs_search":
        int type
        int after
        const char *rows
        npy_intp n
        const char *wanted
        npy_intp per_row
        void *found
        int is_int32
    void gs_run_search(void *search, npy_intp first, npy_intp last) noexcept nogil
    bint gs_can_search(int type) noexcept

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")

cdef enum:
    STEP = 8            # what a step of a search costs, in additions


cpdef object searchsorted_of(object sequence, object a, bint out_int32, bint right, object side, object sorter):
    """Before elements that equal one, or after them; NaN is the greatest."""
    cdef bint after = is_after(right, side)
    a = np.asarray(a)
    check_searchable(sequence, a, sorter)
    model = sequence if is_meta(<PyObject *>sequence) else a
    found = fresh_of_sizes(model, cnp.NPY_INT32 if out_int32 else cnp.NPY_INT64, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a))
    if is_meta(<PyObject *>model) or cnp.PyArray_SIZE(a) == 0:
        return found
    if sorter is not None:
        sequence = in_order(sequence, sorter)
    cdef int type_number = common_type(sequence, a)
    if not gs_can_search(type_number):
        raise NotImplementedError(f"searchsorted(): not defined for {sequence.dtype} and {a.dtype}")
    look_for(prepared(sequence, type_number), prepared(a, type_number), after, found)
    return found


cdef bint is_after(bint right, object side) except -1:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    return right or side == "right"


cdef int check_searchable(object sequence, object a, object sorter) except -1:
    if cnp.PyArray_NDIM(sequence) == 0:
        raise RuntimeError("searchsorted(): the sorted sequence must have at least one dimension")
    cdef int ndim = cnp.PyArray_NDIM(sequence)
    if ndim > 1 and (cnp.PyArray_NDIM(a) != ndim or sequence.shape[:ndim - 1] != a.shape[:ndim - 1]):
        raise RuntimeError(
            "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but they have sizes {list(sequence.shape)} and {list(a.shape)}"
        )
    if sorter is not None and (sorter.shape != sequence.shape or sorter.dtype != np.int64):
        raise RuntimeError(
            f"searchsorted(): sorter must be an int64 tensor of the size of the sequence, {list(sequence.shape)}, but "
            f"is one of {sorter.dtype} of size {list(sorter.shape)}"
        )
    return 0


cdef object in_order(object sequence, object sorter):
    cdef npy_intp length = cnp.PyArray_DIM(sequence, cnp.PyArray_NDIM(sequence) - 1)
    if sorter.size and not 0 <= sorter.min() <= sorter.max() < length:
        raise ValueError(f"searchsorted(): sorter must hold places from 0 to {length - 1}")
    return sequence[sorter] if sequence.ndim == 1 else np.take_along_axis(sequence, sorter, -1)


cdef int common_type(object sequence, object a) except -1:
    """Of both, as NumPy promotes them."""
    cdef int type_number = cnp.PyArray_TYPE(sequence)
    if cnp.PyArray_TYPE(a) != type_number:
        type_number = np.promote_types(sequence.dtype, a.dtype).num
    return cnp.NPY_FLOAT32 if type_number == cnp.NPY_FLOAT16 else type_number


cdef object prepared(object a, int type_number):
    """By rows, in a dtype that there is a loop for."""
    typed = take(cast(<PyObject *>a, type_number))
    return take(contiguous(<PyObject *>typed))


cdef int look_for(object rows, object wanted, bint after, object found) except -1:
    cdef Search search
    cdef int ndim = cnp.PyArray_NDIM(rows)
    cdef npy_intp count = cnp.PyArray_SIZE(wanted), steps = 1
    search.type, search.after = cnp.PyArray_TYPE(rows), after
    search.rows, search.n = <const char *>cnp.PyArray_DATA(rows), cnp.PyArray_DIM(rows, ndim - 1)
    search.wanted = <const char *>cnp.PyArray_DATA(wanted)
    search.per_row = count if ndim == 1 else cnp.PyArray_DIM(wanted, ndim - 1)
    search.found, search.is_int32 = cnp.PyArray_DATA(found), cnp.PyArray_TYPE(found) == cnp.NPY_INT32
    while search.n >> steps:
        steps += 1
    parallel(gs_run_search, &search, count, STEP * steps, 1)
    return 0
