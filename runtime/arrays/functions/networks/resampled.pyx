"""Images of other sizes, (*, rows, columns): each dimension by itself is a few weighted elements for each place.

Taps are a pair, for rows and for columns: None where a dimension stays as it is, or else its size, and for each place of
the result the span of elements that it sees and their weights. kernels/sampling/resampling.h says what binds them.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport cast, contiguous, empty_in_order, is_meta, resample, Resampling
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, read_shape, take

import numpy as np

from math import prod

cnp.import_array()

cdef enum:
    OWN = 2         # dimensions of an image
    MAX_DIMS = 64


cpdef object resampled_of(object image, object taps, object transposed):
    """The sums of the elements in spans, each with its weight; `transposed` are the taps of the gradient."""
    cdef Resampling r
    cdef cnp.ndarray a = image
    cdef int d, type_number = cnp.PyArray_TYPE(a), loops = cnp.PyArray_NDIM(a) - OWN
    expect(a, taps, transposed)
    r.type = cnp.NPY_FLOAT64 if type_number in (cnp.NPY_FLOAT64, cnp.NPY_COMPLEX128) else cnp.NPY_FLOAT32
    arrays = [read_taps(&r, d, cnp.PyArray_DIM(a, loops + d), taps[d]) for d in range(OWN)]
    cdef tuple shape = (<object>a).shape[:loops] + (r.to[0], r.to[1])
    if is_meta(<PyObject *>a):
        return fresh_beside(a, type_number, shape)
    if type_number == cnp.NPY_FLOAT16:
        a = in_type(a, cnp.NPY_FLOAT32)
    return in_type(resized(&r, a, shape), type_number)


cdef object in_type(object a, int type_number):
    return take(cast(<PyObject *>a, type_number))


# ---- what is bound to what

cdef int expect(cnp.ndarray a, object taps, object transposed) except -1:
    if cnp.PyArray_NDIM(a) < OWN or not len(taps) == len(transposed) == OWN:
        raise RuntimeError(f"resampled(): images and taps have {OWN} dimensions, not {a.ndim} and {len(taps)}")
    if not (cnp.PyArray_ISFLOAT(a) or cnp.PyArray_ISCOMPLEX(a)):
        raise RuntimeError(f"resampled(): not implemented for {a.dtype.name}; convert it to a floating dtype")
    return 0


cdef object read_taps(Resampling *r, int d, Py_ssize_t size, object taps):
    """Fill in what there is of a dimension; the arrays that it points into."""
    r.spans[d], r.weights[d], r.from_[d], r.to[d], r.most[d] = NULL, NULL, size, size, 0
    if taps is None:
        return None
    given, pairs, numbers = taps
    cdef cnp.ndarray spans = pairs if is_plain(pairs, cnp.NPY_INTP) else np.asarray(pairs, np.intp, order="C").reshape(-1, 2)
    numbers = numbers if is_plain(numbers, cnp.NPY_FLOAT64) else np.asarray(numbers, np.float64, order="C")
    cdef cnp.ndarray weights = in_type(numbers, r.type)
    if given != size or weights.ndim != 2 or weights.shape[0] != spans.shape[0]:
        raise RuntimeError(
            f"resampled(): weights of size {list((<object>weights).shape)} for {given} elements do not go with "
            f"{spans.shape[0]} spans and {size} elements"
        )
    expect_inside(spans, size, weights.shape[1])
    r.to[d], r.most[d] = spans.shape[0], weights.shape[1]
    r.spans[d], r.weights[d] = <const cnp.npy_intp *>cnp.PyArray_DATA(spans), cnp.PyArray_DATA(weights)
    return (spans, weights)


cdef bint is_plain(object given, int type_number) noexcept:
    """Is it a table that the kernels can read?"""
    return (
        cnp.PyArray_CheckExact(given) and cnp.PyArray_TYPE(<cnp.ndarray>given) == type_number
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>given) and cnp.PyArray_NDIM(<cnp.ndarray>given) == 2
        and (type_number != cnp.NPY_INTP or cnp.PyArray_DIM(<cnp.ndarray>given, 1) == 2)
    )


cdef int expect_inside(cnp.ndarray spans, Py_ssize_t size, Py_ssize_t most) except -1:
    cdef const cnp.npy_intp *span = <const cnp.npy_intp *>cnp.PyArray_DATA(spans)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_DIM(spans, 0)):
        if not 0 <= span[2 * i] <= span[2 * i + 1] <= size or span[2 * i + 1] - span[2 * i] > most:
            raise RuntimeError(
                f"resampled(): {most} weights for elements {span[2 * i]} to {span[2 * i + 1]} of a dimension of {size}"
            )
    return 0


# ---- the order of dimensions in memory

cdef object resized(Resampling *r, cnp.ndarray a, tuple shape):
    """The same image for each channel: these lie one after the other, or side by side, and the result's as they do."""
    result = with_channels_last(r, a, shape)
    if result is not None:
        return result
    a = take(contiguous(<PyObject *>a))
    result = fresh(cnp.PyArray_TYPE(a), shape)
    run(r, a, result, prod(shape[:len(shape) - OWN]), 1)
    return result


cdef object with_channels_last(Resampling *r, cnp.ndarray a, tuple shape):
    """None where they are not."""
    cdef cnp.npy_intp dims[MAX_DIMS]
    if a.ndim <= OWN or cnp.PyArray_IS_C_CONTIGUOUS(a) or not channels_last(a).flags.c_contiguous:
        return None
    result = take(empty_in_order(<PyObject *>a, cnp.PyArray_TYPE(a), read_shape(shape, dims), dims))
    if not channels_last(result).flags.c_contiguous:
        return None
    run(r, a, result, prod(shape[:len(shape) - OWN - 1]), shape[len(shape) - OWN - 1])
    return result


cdef object channels_last(object a):
    return np.moveaxis(a, a.ndim - OWN - 1, -1)


cdef int run(Resampling *r, cnp.ndarray a, cnp.ndarray result, Py_ssize_t images, Py_ssize_t channels) except -1:
    """A complex number is two real ones side by side, as channels are."""
    if cnp.PyArray_SIZE(result) == 0:
        return 0
    r.images, r.inner = images, channels * (2 if cnp.PyArray_ISCOMPLEX(a) else 1)
    return resample(r, cnp.PyArray_DATA(a), cnp.PyArray_DATA(result))
