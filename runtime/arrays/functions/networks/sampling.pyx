"""Sums of weighted elements of images for each of some points, and their transposes in the image and in the weights.

An image is (channels, elements), values are (channels, points), weights and places (taps, points), and any dimensions
before these are broadcast, as in a generalized ufunc. kernels/sampling/sampling.h says what binds them; a negative place
is outside of the image.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport contiguous, is_meta, sample, Samples, spread_samples, weigh_samples
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

from math import prod

cnp.import_array()

cdef enum:
    OWN = 2         # dimensions of each operand


cpdef object sampled_of(object a, object weight, object places):
    """The sums of elements at places, each with its weight: for each channel the same ones."""
    expect("sampled", a, weight, places)
    expect_same("sampled", "taps and points", weight.shape, places.shape)
    loops = loops_of(a, weight, places)
    shape = (*loops, a.shape[a.ndim - OWN], places.shape[places.ndim - 1])
    return run(SAMPLE, shape, loops, a, weight, places, a.shape[a.ndim - OWN], a.shape[a.ndim - 1])


cpdef object spread_samples_of(object a, object weight, object places, Py_ssize_t size):
    """The images of that size whose sums are `a`: the transpose of `sampled` in the image."""
    expect("spread_samples", a, weight, places)
    expect_same("spread_samples", "taps and points", weight.shape, places.shape)
    expect_same("spread_samples", "points", a.shape[a.ndim - 1:], places.shape[places.ndim - 1:])
    if size < 0:
        raise RuntimeError(f"spread_samples(): an image has no negative number of elements, but got {size}")
    loops = loops_of(a, weight, places)
    return run(SPREAD, (*loops, a.shape[a.ndim - OWN], size), loops, a, weight, places, a.shape[a.ndim - OWN], size)


cpdef object weigh_samples_of(object a, object image, object places):
    """The weights with which an image has the sums `a`: the transpose of `sampled` in the weights."""
    expect("weigh_samples", a, image, places)
    expect_same("weigh_samples", "channels", a.shape[a.ndim - OWN:a.ndim - 1], image.shape[image.ndim - OWN:image.ndim - 1])
    expect_same("weigh_samples", "points", a.shape[a.ndim - 1:], places.shape[places.ndim - 1:])
    loops = loops_of(a, image, places)
    shape = (*loops, *places.shape[places.ndim - OWN:])
    return run(WEIGH, shape, loops, a, image, places, a.shape[a.ndim - OWN], image.shape[image.ndim - 1])


# ---- what is bound to what

cdef int expect(str op, object one, object other, object places) except -1:
    if min(one.ndim, other.ndim, places.ndim) < OWN:
        raise RuntimeError(f"{op}(): operands have {OWN} dimensions at least, not {one.ndim}, {other.ndim}, {places.ndim}")
    cdef int type_number = cnp.PyArray_TYPE(one)
    if (type_number == cnp.NPY_FLOAT32 or type_number == cnp.NPY_FLOAT64) and cnp.PyArray_TYPE(other) == type_number:
        if cnp.PyArray_TYPE(places) == cnp.NPY_INT64:
            return 0
    if places.dtype != np.int64 or one.dtype != other.dtype or one.dtype.kind != "f":
        raise RuntimeError(
            f"{op}(): places are int64 and the others of one floating dtype, but they are {places.dtype.name}, "
            f"{one.dtype.name} and {other.dtype.name}"
        )
    return 0


cdef int expect_same(str op, str what, object found, object wanted) except -1:
    found, wanted = found[max(len(found) - OWN, 0):], wanted[max(len(wanted) - OWN, 0):]
    if found != wanted:
        raise RuntimeError(f"{op}(): {what} differ: {list(found)} and {list(wanted)}")
    return 0


cdef tuple loops_of(object one, object other, object places):
    cdef tuple shape = one.shape[:one.ndim - OWN]
    if shape == other.shape[:other.ndim - OWN] == places.shape[:places.ndim - OWN]:
        return shape
    return np.broadcast_shapes(*[x.shape[:x.ndim - OWN] for x in (one, other, places)])


# ---- calls of the kernels

cdef enum Kernel:
    SAMPLE
    SPREAD
    WEIGH


cdef object run(
    Kernel kernel, tuple shape, tuple loops, object one, object other, object places, Py_ssize_t channels, Py_ssize_t size
):
    cdef Samples s
    for operand in (one, other, places):
        if is_meta(<PyObject *>operand):
            return fresh_beside(operand, cnp.PyArray_TYPE(one), shape)
    dtype = one.dtype
    one, other, places = in_rows(one, loops, True), in_rows(other, loops, True), in_rows(places, loops, False)
    s.type, s.images, s.channels, s.size = cnp.PyArray_TYPE(one), prod(loops), channels, size
    s.taps, s.points = places.shape[places.ndim - OWN], places.shape[places.ndim - 1]
    result = fresh(s.type, shape)
    if 0 in (result.size, one.size, other.size, places.size):
        expect_outside(size, places)
        result.fill(0)
        return result if result.dtype == dtype else result.astype(dtype)
    a, b, at, to = (
        cnp.PyArray_DATA(one), cnp.PyArray_DATA(other), <const cnp.npy_int64 *>cnp.PyArray_DATA(places),
        cnp.PyArray_DATA(result),
    )
    if kernel == SAMPLE:
        sample(&s, a, b, at, to)
    elif kernel == SPREAD:
        spread_samples(&s, a, b, at, to)
    else:
        weigh_samples(&s, a, b, at, to)
    return result if result.dtype == dtype else result.astype(dtype)


cdef object in_rows(object a, tuple loops, bint is_real):
    """Row by row, broadcast, and of a dtype that kernels are for."""
    if is_real and cnp.PyArray_TYPE(a) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        a = a.astype(np.float32)
    if a.shape[:a.ndim - OWN] != loops:
        a = np.broadcast_to(a, (*loops, *a.shape[a.ndim - OWN:]))
    return take(contiguous(<PyObject *>a))


cdef int expect_outside(Py_ssize_t size, object places) except -1:
    """Where there is nothing to compute, places are checked nevertheless."""
    if places.size and places.max() >= size:
        raise IndexError(f"a place, {places.max()}, is outside of an image of {size} elements")
    return 0
