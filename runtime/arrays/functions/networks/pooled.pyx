"""Greatest elements and means of windows, and their transposes, on (*, a, b, d) images of three dimensions.

Windows are given by spans: for each of the three dimensions an array or a tuple with, for each place of the output, the
first element of its window and the place after its last. What is outside of the image belongs to no window.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport (
    add_to_places, contiguous, is_meta, Places, spread_means, take_places, window_maxima, window_means, Windows,
)
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

cnp.import_array()

cdef enum:
    OWN = 3         # dimensions of each operand


cpdef tuple window_maxima_of(object a, object spans, object dilation):
    """The greatest elements and their places in images row by row: of equal ones the first, of NaN the last."""
    expect_rank("window_maxima", a)
    if a.dtype.kind not in "fiu" or a.dtype == np.uint64:
        raise RuntimeError(f"max_pool: not implemented for {a.dtype.name}; convert it to a floating dtype")
    cdef Windows w
    arrays = read_windows(&w, a.shape[a.ndim - OWN:], spans, None, dilation)
    shape = (*a.shape[:a.ndim - OWN], *[w.output[i] for i in range(OWN)])
    if is_meta(<PyObject *>a):
        return (fresh_beside(a, cnp.PyArray_TYPE(a), shape), fresh_beside(a, cnp.NPY_INT64, shape))
    if w.image[0] * w.image[1] >= 1 << 31:
        raise RuntimeError(f"max_pool: images have fewer than 2^31 rows, but these are of size {list(a.shape)}")
    dtype = a.dtype
    a = in_kernel_dtype(a)
    a = take(contiguous(<PyObject *>a))
    w.type = cnp.PyArray_TYPE(a)
    w.images = a.size // max(w.image[0] * w.image[1] * w.image[2], 1)
    maxima, places = fresh(w.type, shape), fresh(cnp.NPY_INT64, shape)
    window_maxima(&w, cnp.PyArray_DATA(a), cnp.PyArray_DATA(maxima), <cnp.npy_int64 *>cnp.PyArray_DATA(places))
    return (maxima.astype(dtype, copy=False), places)


cpdef object window_means_of(object a, object spans, object divisors):
    """The sums of windows, each divided by a product of three divisors."""
    expect_rank("window_means", a)
    return pooled(a, a.shape[a.ndim - OWN:], spans, divisors, False)


cpdef object spread_means_of(object a, object spans, object divisors, object size):
    """The images over whose windows means are spread: the transpose of `window_means_of`."""
    expect_rank("spread_means", a)
    return pooled(a, tuple(size), spans, divisors, True)


cdef object pooled(object a, object size, object spans, object divisors, bint spreads):
    cdef Windows w
    if a.dtype.kind not in "fc" and (spreads or a.dtype != np.int64):
        raise RuntimeError(f"avg_pool: not implemented for {a.dtype.name}; convert it to a floating dtype")
    arrays = read_windows(&w, size, spans, divisors, (1, 1, 1))
    loops = a.shape[:a.ndim - OWN]
    own = tuple([w.output[i] for i in range(OWN)])
    if spreads and a.shape[a.ndim - OWN:] != own:
        raise RuntimeError(f"spread_means(): {list(own)} windows do not go with means of size {list(a.shape)}")
    shape = (*loops, *(size if spreads else own))
    if is_meta(<PyObject *>a):
        return fresh_beside(a, cnp.PyArray_TYPE(a), shape)
    if a.dtype.kind == "c":
        result = np.empty(shape, a.dtype)
        result.real = pooled(a.real, size, spans, divisors, spreads)
        result.imag = pooled(a.imag, size, spans, divisors, spreads)
        return result
    if a.dtype == np.int64:
        from gradsmith.runtime.arrays.functions.networks.integer_windows import integer_means

        return integer_means(a, spans, divisors) if 0 not in shape else np.empty(shape, np.int64)
    dtype = a.dtype
    a = in_kernel_dtype(a)
    a = take(contiguous(<PyObject *>a))
    w.type = cnp.PyArray_TYPE(a)
    w.images = 1
    for n in loops:
        w.images *= n
    result = fresh(w.type, shape)
    if spreads:
        spread_means(&w, cnp.PyArray_DATA(a), cnp.PyArray_DATA(result))
    else:
        window_means(&w, cnp.PyArray_DATA(a), cnp.PyArray_DATA(result))
    return result.astype(dtype, copy=False)


# ---- places

cpdef object at_places_of(object a, object places):
    """The elements of each image at its places, which are those in the image row by row."""
    expect_rank("at_places", a)
    return placed(a, places, a.shape[a.ndim - OWN:], False)


cpdef object to_places_of(object a, object places, object size):
    """Images of zeros, to which each element is added at its place: the transpose of `at_places_of`."""
    expect_rank("to_places", a)
    if len(size) != OWN or min(size) < 0:
        raise RuntimeError(f"to_places(): an image has {OWN} sizes, but got {list(size)}")
    return placed(a, places, tuple(size), True)


cdef object placed(object a, object places, object size, bint adds):
    cdef Places p
    expect_rank("to_places" if adds else "at_places", places)
    if places.dtype != np.int64 or a.dtype.kind not in "fc":
        raise RuntimeError(f"places are int64 and values floating, but they are {places.dtype.name}, {a.dtype.name}")
    own = places.shape[places.ndim - OWN:]
    if adds and a.shape[a.ndim - OWN:] != own:
        raise RuntimeError(f"to_places(): {list(places.shape)} places do not go with {list(a.shape)} values")
    loops = np.broadcast_shapes(a.shape[:a.ndim - OWN], places.shape[:places.ndim - OWN])
    shape = (*loops, *(size if adds else own))
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>places):
        return fresh_beside(a if is_meta(<PyObject *>a) else places, cnp.PyArray_TYPE(a), shape)
    if a.dtype.kind == "c":
        result = np.empty(shape, a.dtype)
        result.real, result.imag = placed(a.real, places, size, adds), placed(a.imag, places, size, adds)
        return result
    dtype = a.dtype
    a = np.broadcast_to(in_kernel_dtype(a), (*loops, *a.shape[a.ndim - OWN:]))
    a = take(contiguous(<PyObject *>a))
    places = np.broadcast_to(places, (*loops, *own))
    places = take(contiguous(<PyObject *>places))
    p.type, p.images = cnp.PyArray_TYPE(a), 1
    for n in loops:
        p.images *= n
    p.size, p.n_places = size[0] * size[1] * size[2], own[0] * own[1] * own[2]
    result = fresh(p.type, shape)
    if adds:
        add_to_places(&p, cnp.PyArray_DATA(a), <cnp.npy_int64 *>cnp.PyArray_DATA(places), cnp.PyArray_DATA(result))
    else:
        take_places(&p, cnp.PyArray_DATA(a), <cnp.npy_int64 *>cnp.PyArray_DATA(places), cnp.PyArray_DATA(result))
    return result.astype(dtype, copy=False)


# ---- what windows are made of

cdef int expect_rank(str op, object a) except -1:
    if a.ndim < OWN:
        raise RuntimeError(f"{op}(): operands have {OWN} dimensions at least, not {a.ndim}")
    return 0


cdef object in_kernel_dtype(object a):
    """Kernels are for float32, float64 and int64."""
    if a.dtype.kind in "iu":
        return a.astype(np.int64, copy=False)
    return a if a.dtype in (np.float32, np.float64) else a.astype(np.float32)


cdef list read_windows(Windows *w, object size, object spans, object divisors, object dilation):
    """Fill in everything but the type and the number of images; the arrays that it points into."""
    cdef cnp.ndarray found
    cdef int i
    if not len(size) == len(spans) == len(dilation) == OWN or min(dilation) < 1:
        raise RuntimeError(f"windows have {OWN} sizes, spans and positive dilations, not {size}, {spans}, {dilation}")
    arrays = []
    for i in range(OWN):
        found = as_spans(spans[i])
        w.image[i], w.output[i], w.step[i] = size[i], cnp.PyArray_DIM(found, 0), dilation[i]
        expect_inside(found, w.image[i])
        w.spans[i] = <cnp.npy_intp *>cnp.PyArray_DATA(found)
        arrays.append(found)
    if divisors is not None and len(divisors) != OWN:
        raise RuntimeError(f"windows have divisors along {OWN} dimensions, but got {divisors}")
    for i in range(OWN if divisors is not None else 0):
        found = as_numbers(divisors[i])
        if cnp.PyArray_NDIM(found) != 1 or cnp.PyArray_DIM(found, 0) != w.output[i] or has_zero(found):
            raise RuntimeError(f"each of {w.output[i]} places has a divisor, which is not zero, but got {divisors[i]}")
        w.divisors[i] = <cnp.npy_intp *>cnp.PyArray_DATA(found)
        arrays.append(found)
    return arrays


cdef bint has_zero(cnp.ndarray numbers) noexcept:
    cdef const cnp.npy_intp *elements = <const cnp.npy_intp *>cnp.PyArray_DATA(numbers)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(numbers)):
        if elements[i] == 0:
            return True
    return False


cdef bint are_numbers(object given, int ndim) noexcept:
    """Is it an array that the kernels can read?"""
    return (
        cnp.PyArray_CheckExact(given) and cnp.PyArray_TYPE(<cnp.ndarray>given) == cnp.NPY_INTP
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>given) and cnp.PyArray_NDIM(<cnp.ndarray>given) == ndim
    )


cdef cnp.ndarray as_spans(object pairs):
    if are_numbers(pairs, 2) and cnp.PyArray_DIM(<cnp.ndarray>pairs, 1) == 2:
        return pairs
    found = np.asarray(pairs, np.intp, order="C")
    found = found if found.size else np.empty((0, 2), np.intp)
    if found.ndim != 2 or found.shape[1] != 2:
        raise RuntimeError(f"a span is a pair of numbers, but got {pairs}")
    return found


cdef cnp.ndarray as_numbers(object numbers):
    return numbers if are_numbers(numbers, 1) else np.asarray(numbers, np.intp, order="C")


cdef int expect_inside(cnp.ndarray spans, Py_ssize_t size) except -1:
    cdef const cnp.npy_intp *span = <const cnp.npy_intp *>cnp.PyArray_DATA(spans)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_DIM(spans, 0)):
        if not 0 <= span[2 * i] < span[2 * i + 1] <= size:
            raise RuntimeError(
                f"the window from {span[2 * i]} to {span[2 * i + 1]} has no element of a dimension of {size}"
            )
    return 0
