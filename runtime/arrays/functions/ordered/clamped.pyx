"""Integers between two numbers in one pass, where the op's formula takes one for each bound."""

from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_int64, npy_intp

from gradsmith.runtime.arrays.array cimport empty_array, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport take

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/ordered/clamped_kernels.h":
    ctypedef struct Clamped "gs_clamped":
        int type
        const char *from_ "from"
        char *to
        npy_int64 least, greatest
    void gs_clamp_integers(void *clamped, npy_intp first, npy_intp last) noexcept nogil

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")


cdef object clamped_integers(PyObject *array, object least, object greatest, PyObject *out):
    """`out`, which is the array itself or NULL for a new one; None for other numbers, layouts and bounds."""
    cdef Clamped c
    a = <cnp.ndarray>array
    c.type = cnp.PyArray_TYPE(a)
    if not cnp.PyTypeNum_ISINTEGER(c.type) or not cnp.PyArray_IS_C_CONTIGUOUS(a) or not cnp.PyArray_ISBEHAVED_RO(a):
        return None
    if is_meta(array) or not read_bound(a, least, &c.least) or not read_bound(a, greatest, &c.greatest):
        return None
    if out == NULL:
        result = take(empty_array(c.type, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a)))
    elif out == array and cnp.PyArray_ISWRITEABLE(a):
        result = a
    else:
        return None
    c.from_, c.to = <const char *>cnp.PyArray_DATA(a), <char *>cnp.PyArray_DATA(result)
    parallel(gs_clamp_integers, &c, cnp.PyArray_SIZE(a), 1, 64)
    return result


cdef bint read_bound(cnp.ndarray a, object bound, npy_int64 *to) except -1:
    """False for what is no number of the array's type."""
    cdef int overflows, bits = 8 * <int>cnp.PyArray_ITEMSIZE(a)
    if type(bound) is not int:
        return False
    to[0] = PyLong_AsLongLongAndOverflow(bound, &overflows)
    if overflows:
        return False
    if cnp.PyTypeNum_ISUNSIGNED(cnp.PyArray_TYPE(a)):
        return to[0] >= 0 and (bits == 64 or to[0] >> bits == 0)
    return bits == 64 or to[0] >> (bits - 1) in (0, -1)
