"""Which of a few elements are among a few others, without the arrays of pairs that NumPy needs."""

cimport numpy as cnp
from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport empty_array, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport take

cnp.import_array()

cdef enum:
    FEW_PAIRS = 1024

ctypedef fused Number:
    cnp.npy_int64
    float
    double


def few_among(elements, tests, bint invert):
    """A mask in the shape of the elements; None of many, of other dtypes and layouts, and of what has no data."""
    if not cnp.PyArray_CheckExact(elements) or not cnp.PyArray_CheckExact(tests) or not fit(elements, tests):
        return None
    found = take(empty_array(cnp.NPY_BOOL, cnp.PyArray_NDIM(elements), cnp.PyArray_DIMS(elements)))
    cdef cnp.npy_bool *out = <cnp.npy_bool *>cnp.PyArray_DATA(<cnp.ndarray>found)
    cdef cnp.npy_intp n = cnp.PyArray_SIZE(elements), m = cnp.PyArray_SIZE(tests)
    cdef void *x = cnp.PyArray_DATA(elements)
    cdef void *y = cnp.PyArray_DATA(tests)
    if cnp.PyArray_TYPE(elements) == cnp.NPY_INT64:
        look_up(<cnp.npy_int64 *>x, n, <cnp.npy_int64 *>y, m, out, invert)
    elif cnp.PyArray_TYPE(elements) == cnp.NPY_FLOAT32:
        look_up(<float *>x, n, <float *>y, m, out, invert)
    else:
        look_up(<double *>x, n, <double *>y, m, out, invert)
    return found


cdef bint fit(cnp.ndarray elements, cnp.ndarray tests) noexcept:
    cdef int type_number = cnp.PyArray_TYPE(elements)
    if type_number != cnp.PyArray_TYPE(tests) or is_meta(<PyObject *>elements) or is_meta(<PyObject *>tests):
        return False
    if type_number != cnp.NPY_INT64 and type_number != cnp.NPY_FLOAT32 and type_number != cnp.NPY_FLOAT64:
        return False
    if cnp.PyArray_SIZE(elements) * cnp.PyArray_SIZE(tests) > FEW_PAIRS:
        return False
    return (
        cnp.PyArray_IS_C_CONTIGUOUS(elements) and cnp.PyArray_ISBEHAVED_RO(elements)
        and cnp.PyArray_IS_C_CONTIGUOUS(tests) and cnp.PyArray_ISBEHAVED_RO(tests)
    )


cdef void look_up(
    const Number *x, cnp.npy_intp n, const Number *y, cnp.npy_intp m, cnp.npy_bool *out, bint invert
) noexcept:
    cdef cnp.npy_intp i, j
    cdef bint is_among
    for i in range(n):
        is_among = False
        for j in range(m):
            is_among |= x[i] == y[j]
        out[i] = is_among != invert
