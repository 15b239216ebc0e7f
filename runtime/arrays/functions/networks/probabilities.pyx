"""Losses of probabilities and of variances, which have to be some."""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport LOG, LOG1P, NEGATIVE, is_meta, unary, unary_into
from gradsmith.runtime.arrays.functions.ownership cimport take

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data

cnp.import_array()

cdef double LEAST_LOGARITHM = -100      # PyTorch's, so that a loss stays finite


ctypedef fused real:
    float
    double


cpdef object binary_entropies_of(cnp.ndarray p, cnp.ndarray target):
    """-t log(p) - (1 - t) log(1 - p)"""
    if not cnp.PyArray_ISFLOAT(p):
        raise NotImplementedError(
            f"binary_cross_entropy is not implemented for {p.dtype}; convert it to a floating dtype"
        )
    if is_meta(<PyObject *>p) or is_meta(<PyObject *>target):
        return array_without_data(np.broadcast_shapes(shape(p), shape(target)), np.result_type(p, target))
    check_probabilities("input", p)
    check_probabilities("target", target)
    cdef cnp.ndarray yes = take(unary(LOG, <PyObject *>p)), no = take(unary(NEGATIVE, <PyObject *>p))
    unary_into(LOG1P, <PyObject *>no, <PyObject *>no)
    if not are_alike(p, target) or not are_alike(yes, no):
        return of_logarithms(yes, no, target)
    if cnp.PyArray_TYPE(p) == cnp.NPY_FLOAT32:
        combine(<float *>cnp.PyArray_DATA(no), cnp.PyArray_DATA(yes), cnp.PyArray_DATA(target), p.size)
    elif cnp.PyArray_TYPE(p) == cnp.NPY_FLOAT64:
        combine(<double *>cnp.PyArray_DATA(no), cnp.PyArray_DATA(yes), cnp.PyArray_DATA(target), p.size)
    else:
        return of_logarithms(yes, no, target)
    return no


cdef object of_logarithms(object yes, object no, object target):
    least = yes.dtype.type(LEAST_LOGARITHM)
    found = (target - 1) * np.maximum(no, least) - target * np.maximum(yes, least)
    return np.asarray(found, np.result_type(yes, target))


cdef int combine(real *no, const void *yes, const void *target, Py_ssize_t count) except -1:
    """The same where `no` was."""
    cdef Py_ssize_t i
    cdef real t, a, b, least = <real>LEAST_LOGARITHM
    with nogil:
        for i in range(count):
            t, a, b = (<const real *>target)[i], (<const real *>yes)[i], no[i]
            no[i] = (t - 1) * (b if b > least else least) - t * (a if a > least else least)
    return 0


cdef bint are_alike(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Of one dtype and size, and both row by row?"""
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or not cnp.PyArray_SAMESHAPE(a, b):
        return False
    return cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_ISCARRAY_RO(b)


cdef tuple shape(cnp.ndarray a):
    return (<object>a).shape


cdef int check_probabilities(str name, cnp.ndarray values) except -1:
    """NaN is no probability either."""
    cdef bint holds
    if cnp.PyArray_ISCARRAY_RO(values) and cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT32:
        holds = are_probabilities(<const float *>cnp.PyArray_DATA(values), values.size)
    elif cnp.PyArray_ISCARRAY_RO(values) and cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT64:
        holds = are_probabilities(<const double *>cnp.PyArray_DATA(values), values.size)
    else:
        holds = bool(((<object>values >= 0) & (<object>values <= 1)).all())
    if not holds:
        raise RuntimeError(
            f"binary_cross_entropy: all elements of {name} should be between 0 and 1. For logits, numbers of any size, "
            "there is binary_cross_entropy_with_logits."
        )
    return 0


cdef int are_probabilities(const real *values, Py_ssize_t count) except -1:
    cdef Py_ssize_t i
    cdef bint holds = True
    with nogil:
        for i in range(count):
            holds &= (values[i] >= 0) & (values[i] <= 1)
    return holds


cpdef object variances_at_least_of(object variances, double eps):
    """The variances, none less than `eps`."""
    if is_meta(<PyObject *>variances):
        return array_without_data(variances.shape, variances.dtype)
    if (variances < 0).any():
        raise ValueError("gaussian_nll_loss: var has negative entry/entries, but variances are zero or more")
    return np.asarray(np.maximum(variances, variances.dtype.type(eps)))
