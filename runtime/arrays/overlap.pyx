"""Memory that arrays share, and arrays of which several elements lie in one place, as after `as_strided`."""
from cpython.ref cimport PyObject
cimport numpy as cnp

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *) noexcept


cdef bint may_overlap_itself(cnp.ndarray array) noexcept:
    """May two elements lie in one place? False of what slices and permutations give of one where none do."""
    cdef int i, j
    cdef cnp.npy_intp step, other, reach
    if cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_IS_F_CONTIGUOUS(array):
        return False
    for i in range(cnp.PyArray_NDIM(array)):
        step = abs(cnp.PyArray_STRIDE(array, i))
        reach = 0
        for j in range(cnp.PyArray_NDIM(array)):
            other = abs(cnp.PyArray_STRIDE(array, j))
            if j != i and (other < step or other == step and j < i):
                reach += other * (cnp.PyArray_DIM(array, j) - 1)
        if cnp.PyArray_DIM(array, i) > 1 and step <= reach:
            return cnp.PyArray_SIZE(array) > 0
    return False


cdef bint ranges_meet(cnp.ndarray a, cnp.ndarray b) noexcept:
    """May the arrays share memory, by their lowest and highest addresses?"""
    cdef char *ends[4]
    if cnp.PyArray_SIZE(a) == 0 or cnp.PyArray_SIZE(b) == 0:
        return False
    find_ends(a, ends)
    find_ends(b, ends + 2)
    return ends[0] < ends[3] and ends[2] < ends[1]


cdef void find_ends(cnp.ndarray a, char **ends) noexcept:
    cdef int i
    cdef cnp.npy_intp reach
    ends[0] = cnp.PyArray_BYTES(a)
    ends[1] = ends[0] + cnp.PyArray_ITEMSIZE(a)
    for i in range(cnp.PyArray_NDIM(a)):
        reach = (cnp.PyArray_DIM(a, i) - 1) * cnp.PyArray_STRIDE(a, i)
        ends[reach > 0] += reach


cdef bint is_alone(PyObject *array) noexcept:
    """Is this the only reference to the array and to its memory? Empty memory is never shared."""
    while Py_REFCNT(array) == 1:
        if cnp.PyArray_BASE(<cnp.ndarray>array) == NULL:
            return True
        array = cnp.PyArray_BASE(<cnp.ndarray>array)
        if not cnp.PyArray_CheckExact(<object>array):
            return False
    return cnp.PyArray_BASE(<cnp.ndarray>array) == NULL and cnp.PyArray_NBYTES(<cnp.ndarray>array) == 0
