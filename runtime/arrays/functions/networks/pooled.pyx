"""Greatest elements and means of windows, and their transposes, on (*, a, b, d) images of three dimensions.

Windows are given by spans: for each of the three dimensions an array or a tuple with, for each place of the output, the
first element of its window and the place after its last. What is outside of the image belongs to no window.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    add_to_places, cast, contiguous, is_meta, Places, spread_means, take_places, window_maxima, window_means, Windows,
)
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_of_sizes, take

import numpy as np

cnp.import_array()

cdef enum:
    OWN = 3         # dimensions of each operand


cpdef tuple window_maxima_of(cnp.ndarray a, object spans, object dilation):
    """The greatest elements and their places in images row by row: of equal ones the first, of NaN the last."""
    cdef Windows w
    cdef npy_intp sizes[MAX_DIMS]
    cdef int type_number = cnp.PyArray_TYPE(a), ndim = cnp.PyArray_NDIM(a)
    expect_rank("window_maxima", a)
    if not (is_floating(type_number) or is_whole(type_number)) or type_number == cnp.NPY_UINT64:
        raise RuntimeError(f"max_pool: not implemented for {a.dtype.name}; convert it to a floating dtype")
    arrays = read_windows(&w, cnp.PyArray_DIMS(a) + ndim - OWN, spans, None, dilation)
    w.images = write_sizes(sizes, a, w.output)
    maxima = fresh_of_sizes(a, kernel_type(type_number), ndim, sizes)
    places = fresh_of_sizes(a, cnp.NPY_INT64, ndim, sizes)
    if is_meta(<PyObject *>a):
        return (in_type(maxima, type_number), places)
    if w.image[0] * w.image[1] >= 1 << 31:
        raise RuntimeError(f"max_pool: images have fewer than 2^31 rows, but these are of size {shape(a)}")
    a = in_kernel_type(a)
    w.type = cnp.PyArray_TYPE(a)
    window_maxima(&w, cnp.PyArray_DATA(a), cnp.PyArray_DATA(maxima), <cnp.npy_int64 *>cnp.PyArray_DATA(places))
    return (in_type(maxima, type_number), places)


cpdef object window_means_of(cnp.ndarray a, object spans, object divisors):
    """The sums of windows, each divided by a product of three divisors."""
    expect_rank("window_means", a)
    return pooled(a, cnp.PyArray_DIMS(a) + cnp.PyArray_NDIM(a) - OWN, spans, divisors, False)


cpdef object spread_means_of(cnp.ndarray a, object spans, object divisors, object size):
    """The images over whose windows means are spread: the transpose of `window_means_of`."""
    cdef npy_intp own[OWN]
    expect_rank("spread_means", a)
    read_own(size, own)
    return pooled(a, own, spans, divisors, True)


cdef object pooled(cnp.ndarray a, const npy_intp *size, object spans, object divisors, bint spreads):
    cdef Windows w
    cdef npy_intp sizes[MAX_DIMS]
    cdef int type_number = cnp.PyArray_TYPE(a), ndim = cnp.PyArray_NDIM(a)
    cdef bint is_complex = cnp.PyArray_ISCOMPLEX(a), is_int64 = type_number == cnp.NPY_INT64
    if not (is_floating(type_number) or is_complex or (is_int64 and not spreads)):
        raise RuntimeError(f"avg_pool: not implemented for {a.dtype.name}; convert it to a floating dtype")
    arrays = read_windows(&w, size, spans, divisors, ONES)
    if spreads:
        expect_own(a, w.output)
    w.images = write_sizes(sizes, a, size if spreads else &w.output[0])
    if is_meta(<PyObject *>a):
        return fresh_of_sizes(a, type_number, ndim, sizes)
    if is_complex:
        result = fresh_of_sizes(a, type_number, ndim, sizes)
        result.real = pooled((<object>a).real, size, spans, divisors, spreads)
        result.imag = pooled((<object>a).imag, size, spans, divisors, spreads)
        return result
    if is_int64:
        return means_of_integers(a, spans, divisors, fresh_of_sizes(a, type_number, ndim, sizes))
    a = in_kernel_type(a)
    w.type = cnp.PyArray_TYPE(a)
    result = fresh_of_sizes(a, w.type, ndim, sizes)
    if spreads:
        spread_means(&w, cnp.PyArray_DATA(a), cnp.PyArray_DATA(result))
    else:
        window_means(&w, cnp.PyArray_DATA(a), cnp.PyArray_DATA(result))
    return in_type(result, type_number)


cdef object means_of_integers(cnp.ndarray a, object spans, object divisors, cnp.ndarray result):
    """`result` where there is nothing to compute."""
    from gradsmith.runtime.arrays.functions.networks.integer_windows import integer_means

    return integer_means(a, spans, divisors) if cnp.PyArray_SIZE(result) else result


cdef int expect_own(cnp.ndarray a, const npy_intp *sizes) except -1:
    if not has_own(a, sizes):
        raise RuntimeError(
            f"spread_means(): {[sizes[i] for i in range(OWN)]} windows do not go with means of size {shape(a)}"
        )
    return 0


cdef bint has_own(cnp.ndarray a, const npy_intp *sizes) noexcept:
    cdef npy_intp *found = cnp.PyArray_DIMS(a) + cnp.PyArray_NDIM(a) - OWN
    return found[0] == sizes[0] and found[1] == sizes[1] and found[2] == sizes[2]


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


cdef object placed(cnp.ndarray a, cnp.ndarray places, tuple size, bint adds):
    cdef Places p
    cdef npy_intp sizes[MAX_DIMS]
    cdef int type_number = cnp.PyArray_TYPE(a), ndim
    expect_rank("to_places" if adds else "at_places", places)
    if cnp.PyArray_TYPE(places) != cnp.NPY_INT64 or not (is_floating(type_number) or cnp.PyArray_ISCOMPLEX(a)):
        raise RuntimeError(f"places are int64 and values floating, but they are {places.dtype.name}, {a.dtype.name}")
    if not have_equal_loops(a, places):
        loops = np.broadcast_shapes(tuple(shape(a)[:-OWN]), tuple(shape(places)[:-OWN]))
        a = np.broadcast_to(a, (*loops, *shape(a)[-OWN:]))
        places = np.broadcast_to(places, (*loops, *shape(places)[-OWN:]))
    ndim = cnp.PyArray_NDIM(places)
    cdef const npy_intp *own = cnp.PyArray_DIMS(places) + ndim - OWN
    cdef npy_intp image[OWN]
    read_own(size, image)
    if adds and not has_own(a, own):
        raise RuntimeError(f"to_places(): {shape(places)} places do not go with {shape(a)} values")
    p.images = write_sizes(sizes, places, &image[0] if adds else own)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>places):
        return fresh_of_sizes(a if is_meta(<PyObject *>a) else places, type_number, ndim, sizes)
    if cnp.PyArray_ISCOMPLEX(a):
        result = fresh_of_sizes(a, type_number, ndim, sizes)
        result.real = placed((<object>a).real, places, size, adds)
        result.imag = placed((<object>a).imag, places, size, adds)
        return result
    a = in_kernel_type(a)
    places = take(contiguous(<PyObject *>places))
    p.type = cnp.PyArray_TYPE(a)
    p.size, p.n_places = image[0] * image[1] * image[2], own[0] * own[1] * own[2]
    result = fresh_of_sizes(a, p.type, ndim, sizes)
    if adds:
        add_to_places(&p, cnp.PyArray_DATA(a), <cnp.npy_int64 *>cnp.PyArray_DATA(places), cnp.PyArray_DATA(result))
    else:
        take_places(&p, cnp.PyArray_DATA(a), <cnp.npy_int64 *>cnp.PyArray_DATA(places), cnp.PyArray_DATA(result))
    return in_type(result, type_number)


cdef bint have_equal_loops(cnp.ndarray a, cnp.ndarray b) noexcept:
    cdef int i, ndim = cnp.PyArray_NDIM(a)
    if ndim != cnp.PyArray_NDIM(b):
        return False
    for i in range(ndim - OWN):
        if cnp.PyArray_DIM(a, i) != cnp.PyArray_DIM(b, i):
            return False
    return True


# ---- what windows are made of

cdef tuple ONES = (1,) * OWN


cdef int expect_rank(str op, cnp.ndarray a) except -1:
    if cnp.PyArray_NDIM(a) < OWN:
        raise RuntimeError(f"{op}(): operands have {OWN} dimensions at least, not {cnp.PyArray_NDIM(a)}")
    return 0


cdef bint is_floating(int type_number) noexcept:
    return cnp.PyTypeNum_ISFLOAT(type_number)


cdef bint is_whole(int type_number) noexcept:
    return cnp.PyTypeNum_ISINTEGER(type_number)


cdef int kernel_type(int type_number) noexcept:
    """Kernels are for float32, float64 and int64."""
    if is_whole(type_number):
        return cnp.NPY_INT64
    return cnp.NPY_FLOAT64 if type_number == cnp.NPY_FLOAT64 else cnp.NPY_FLOAT32


cdef cnp.ndarray in_kernel_type(cnp.ndarray a):
    """Row by row."""
    a = in_type(a, kernel_type(cnp.PyArray_TYPE(a)))
    return take(contiguous(<PyObject *>a))


cdef object in_type(object a, int type_number):
    return take(cast(<PyObject *>a, type_number))


cdef list shape(cnp.ndarray a):
    return list((<object>a).shape)


cdef npy_intp write_sizes(npy_intp *to, cnp.ndarray a, const npy_intp *own) noexcept:
    """The sizes of `a`, of which the last ones are others; how many images there are."""
    cdef npy_intp images = 1
    cdef int i, loops = cnp.PyArray_NDIM(a) - OWN
    for i in range(loops):
        to[i] = cnp.PyArray_DIM(a, i)
        images *= to[i]
    for i in range(OWN):
        to[loops + i] = own[i]
    return images


cdef int read_own(object size, npy_intp *to) except -1:
    if len(size) != OWN:
        raise RuntimeError(f"windows have {OWN} sizes, not {size}")
    to[0], to[1], to[2] = size
    return 0


cdef list read_windows(Windows *w, const npy_intp *size, object spans, object divisors, object dilation):
    """Fill in everything but the type and the number of images; the arrays that it points into."""
    cdef cnp.ndarray found
    cdef int i
    if not len(spans) == len(dilation) == OWN:
        raise RuntimeError(f"windows have {OWN} spans and dilations, not {spans}, {dilation}")
    arrays = []
    for i in range(OWN):
        found = as_spans(spans[i])
        w.image[i], w.output[i], w.step[i] = size[i], cnp.PyArray_DIM(found, 0), dilation[i]
        if w.step[i] < 1:
            raise RuntimeError(f"windows have positive dilations, not {dilation}")
        expect_inside(found, w.image[i])
        w.spans[i] = <npy_intp *>cnp.PyArray_DATA(found)
        arrays.append(found)
    if divisors is not None and len(divisors) != OWN:
        raise RuntimeError(f"windows have divisors along {OWN} dimensions, but got {divisors}")
    for i in range(OWN if divisors is not None else 0):
        found = as_numbers(divisors[i])
        if cnp.PyArray_NDIM(found) != 1 or cnp.PyArray_DIM(found, 0) != w.output[i] or has_zero(found):
            raise RuntimeError(f"each of {w.output[i]} places has a divisor, which is not zero, but got {divisors[i]}")
        w.divisors[i] = <npy_intp *>cnp.PyArray_DATA(found)
        arrays.append(found)
    return arrays


cdef bint has_zero(cnp.ndarray numbers) noexcept:
    cdef const npy_intp *elements = <const npy_intp *>cnp.PyArray_DATA(numbers)
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
    cdef const npy_intp *span = <const npy_intp *>cnp.PyArray_DATA(spans)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_DIM(spans, 0)):
        if not 0 <= span[2 * i] < span[2 * i + 1] <= size:
            raise RuntimeError(
                f"the window from {span[2 * i]} to {span[2 * i + 1]} has no element of a dimension of {size}"
            )
    return 0
