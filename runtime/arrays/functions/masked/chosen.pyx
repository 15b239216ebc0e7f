"""Elements where a mask is true, of arrays that lie in order; see Note [No branch for each] in chosen_kernels.c.

A mask of the array's shape is meant, and elements that NumPy's loops could move byte by byte.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.stdint cimport uint8_t
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes
from gradsmith.runtime.arrays.functions.shapes cimport expand_of

cnp.import_array()

cdef extern from "runtime/arrays/functions/masked/chosen_kernels.h":
    ctypedef struct Chosen "gs_chosen":
        npy_intp width
        npy_intp size
        const uint8_t *mask
        char *elements
        char *others
        npy_intp count
    bint gs_can_choose(npy_intp width) noexcept nogil
    npy_intp gs_gather_chosen(const Chosen *c) noexcept nogil
    void gs_write_chosen(const Chosen *c) noexcept nogil
    void gs_fill_chosen(const Chosen *c) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    npy_intp PyArray_CountNonzero(cnp.ndarray) except? -1

cdef enum:
    LARGE = 4096            # elements from which on a loop lets other threads run


cdef object elements_under(object a, object mask):
    """``a[mask]``"""
    cdef Chosen c
    cdef npy_intp count
    if not (are_alike(a, mask) and is_plain_memory(a) and is_plain_memory(mask)):
        return None
    count = PyArray_CountNonzero(<cnp.ndarray>mask)
    result = fresh_of_sizes(a, cnp.PyArray_TYPE(<cnp.ndarray>a), 1, &count)
    set_chosen(&c, a, mask, result, count)
    if c.size < LARGE:
        c.count = gs_gather_chosen(&c)
    else:
        with nogil:
            c.count = gs_gather_chosen(&c)
    if c.count != count:
        raise RuntimeError("a mask was changed by another thread while its true elements were counted")
    return result


cdef bint write_under(object a, object mask, object source, npy_intp count) except -1:
    """``a[mask] = source``, of which as many elements are taken as there are true ones, which is `count`."""
    cdef Chosen c
    if not (are_alike(a, mask) and is_plain_memory(a) and is_plain_memory(mask) and is_plain_memory(source)):
        return False
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>a) or cnp.PyArray_SIZE(<cnp.ndarray>source) < count:
        return False
    set_chosen(&c, a, mask, source, count)
    if c.size < LARGE:
        gs_write_chosen(&c)
    else:
        with nogil:
            gs_write_chosen(&c)
    return True


cdef bint fill_under(object a, object mask, object value) except -1:
    """``a[mask] = value``, which is one element, an array of the dtype. The mask may broadcast to the array."""
    cdef Chosen c
    if not cnp.PyArray_CheckExact(value) or cnp.PyArray_SIZE(<cnp.ndarray>value) != 1 or is_meta(<PyObject *>value):
        return False
    if cnp.PyArray_TYPE(<cnp.ndarray>value) != cnp.PyArray_TYPE(<cnp.ndarray>a):
        return False
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>mask) or not cnp.PyArray_ISBEHAVED(<cnp.ndarray>a):
        return False
    if not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>a):
        if not cnp.PyArray_IS_F_CONTIGUOUS(<cnp.ndarray>a):
            return False
        a, mask = a.T, in_shape(mask, a).T
    mask = cnp.PyArray_GETCONTIGUOUS(<cnp.ndarray>in_shape(mask, a))
    if not are_alike(a, mask):
        return False
    set_chosen(&c, a, mask, value, 1)
    if c.size < LARGE:
        gs_fill_chosen(&c)
    else:
        with nogil:
            gs_fill_chosen(&c)
    return True


cdef object in_shape(object mask, object a):
    return mask if cnp.PyArray_SAMESHAPE(<cnp.ndarray>mask, <cnp.ndarray>a) else expand_of(mask, a.shape)


cdef void set_chosen(Chosen *c, cnp.ndarray a, cnp.ndarray mask, cnp.ndarray others, npy_intp count) noexcept:
    c.width, c.size, c.count = cnp.PyArray_ITEMSIZE(a), cnp.PyArray_SIZE(a), count
    c.mask, c.elements = <const uint8_t *>cnp.PyArray_DATA(mask), cnp.PyArray_BYTES(a)
    c.others = cnp.PyArray_BYTES(others)


cdef bint are_alike(cnp.ndarray a, cnp.ndarray mask) noexcept:
    if cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or not cnp.PyArray_SAMESHAPE(a, mask):
        return False
    return gs_can_choose(cnp.PyArray_ITEMSIZE(a))


cdef bint is_plain_memory(cnp.ndarray a) noexcept:
    return cnp.PyArray_IS_C_CONTIGUOUS(a) and cnp.PyArray_ISBEHAVED_RO(a) and not is_meta(<PyObject *>a)
