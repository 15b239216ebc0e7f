"""Numbers of elements in bins of equal length, for float32 and float64, and of equal small integers."""

from cpython.ref cimport PyObject
from libc.math cimport INFINITY, NAN
cimport numpy as cnp
from numpy cimport npy_int64, npy_intp

from gradsmith.runtime.arrays.array cimport cast, contiguous, full_array
from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes, take
from gradsmith.runtime.arrays.functions.scatter_gather cimport int64_index

cnp.import_array()

cdef enum:
    GREATEST = 1 << 30

ctypedef fused real:
    float
    double


def has_bins(cnp.ndarray a not None):
    """Is there a loop for the elements?"""
    return cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) and cnp.PyArray_ISBEHAVED_RO(a)


def extremes(cnp.ndarray a not None):
    """The least and the greatest element, of which there must be one; NaN where there is one."""
    cdef double low, high
    a = take(contiguous(<PyObject *>a))
    cdef const void *elements = cnp.PyArray_DATA(a)
    cdef npy_intp size = cnp.PyArray_SIZE(a)
    cdef bint is_float = cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32
    with nogil:
        if is_float:
            find_extremes(<const float *>elements, size, &low, &high)
        else:
            find_extremes(<const double *>elements, size, &low, &high)
    return low, high


cdef void find_extremes(const real *elements, npy_intp size, double *low, double *high) noexcept nogil:
    cdef real least = elements[0], greatest = elements[0], x
    cdef npy_intp i
    cdef bint has_nan = False
    for i in range(size):
        x = elements[i]
        least = x if x < least else least
        greatest = x if x > greatest else greatest
        has_nan |= x != x
    low[0], high[0] = NAN if has_nan else least, NAN if has_nan else greatest


def counts_in_bins(cnp.ndarray a not None, npy_intp bins, double low, double high):
    """How many elements there are in each bin between two numbers, in the dtype of the elements.

    The last bin contains its upper edge. The numbers of the bins are computed in the dtype too.
    """
    cdef npy_intp n = bins
    cdef double scale = bins / (high - low)
    counts = take(full_array(cnp.NPY_INT64, 1, &n, 0))
    cdef npy_int64 *count = <npy_int64 *>cnp.PyArray_DATA(counts)
    a = take(contiguous(<PyObject *>a))
    cdef const void *elements = cnp.PyArray_DATA(a)
    cdef npy_intp size = cnp.PyArray_SIZE(a)
    cdef bint is_float = cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32
    with nogil:
        if is_float:
            count_each(<const float *>elements, size, bins, <float>low, <float>high, <float>scale, count)
        else:
            count_each(<const double *>elements, size, bins, low, high, scale, count)
    return take(cast(<PyObject *>counts, cnp.PyArray_TYPE(a)))


cdef void count_each(
    const real *elements, npy_intp size, npy_intp bins, real low, real high, real scale, npy_int64 *count
) noexcept nogil:
    cdef npy_intp i
    cdef real place
    for i in range(size):
        if low <= elements[i] <= high:
            place = (elements[i] - low) * scale
            count[bins - 1 if place >= bins else <npy_intp>place if place > 0 else 0] += 1


def edges_between(cnp.ndarray a not None, npy_intp bins, double low, double high):
    """The edges of bins of equal length, in the dtype of an array: the numbers of `numpy.linspace`."""
    cdef npy_intp count = bins + 1, i
    cdef double step = (high - low) / bins
    edges = fresh_of_sizes(a, cnp.NPY_FLOAT64, 1, &count)
    cdef double *edge = <double *>cnp.PyArray_DATA(edges)
    for i in range(bins):
        edge[i] = i * step + low
    edge[bins] = high
    return take(cast(<PyObject *>edges, cnp.PyArray_TYPE(a)))


def counts_between(cnp.ndarray a not None, cnp.ndarray edges not None):
    """How many elements lie between neighbours among ascending edges; the last bin contains its upper edge.

    None where the edges are not in order, and where there is no loop.
    """
    cdef npy_intp bins = cnp.PyArray_SIZE(edges) - 1
    cdef bint is_float = cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32, is_done
    if not has_bins(a) or not has_bins(edges) or cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(edges) or bins < 1:
        return None
    a, edges = take(contiguous(<PyObject *>a)), take(contiguous(<PyObject *>edges))
    counts = take(full_array(cnp.NPY_INT64, 1, &bins, 0))
    cdef npy_int64 *count = <npy_int64 *>cnp.PyArray_DATA(counts)
    cdef const void *elements = cnp.PyArray_DATA(a)
    cdef const void *edge = cnp.PyArray_DATA(edges)
    cdef npy_intp size = cnp.PyArray_SIZE(a)
    with nogil:
        if is_float:
            is_done = count_between(<const float *>elements, size, <const float *>edge, bins, count)
        else:
            is_done = count_between(<const double *>elements, size, <const double *>edge, bins, count)
    return take(cast(<PyObject *>counts, cnp.PyArray_TYPE(a))) if is_done else None


cdef bint count_between(
    const real *elements, npy_intp size, const real *edges, npy_intp bins, npy_int64 *count
) noexcept nogil:
    cdef npy_intp i
    cdef real low = edges[0], high = edges[bins], scale = bins / (high - low) if low < high else 0
    for i in range(bins):
        if not edges[i] <= edges[i + 1]:
            return False
    if not 0 < scale < INFINITY:
        scale = 0
    for i in range(size):
        if low <= elements[i] <= high:
            count[place_between(elements[i], edges, bins, scale)] += 1
    return True


cdef inline npy_intp place_between(real element, const real *edges, npy_intp bins, real scale) noexcept nogil:
    """The last bin whose lower edge is not above the element, found beside where it is between equal bins."""
    cdef npy_intp first = 0, last = bins - 1, middle
    if scale != 0:
        middle = min(<npy_intp>((element - edges[0]) * scale), last)
        if edges[middle] > element:
            last = middle = middle - 1
        elif middle < last and edges[middle + 1] <= element:
            first = middle = middle + 1
        if edges[middle] <= element and (middle == bins - 1 or element < edges[middle + 1]):
            return middle
    while first < last:
        middle = last - (last - first) // 2
        if edges[middle] <= element:
            first = middle
        else:
            last = middle - 1
    return first


def counts_of_integers(cnp.ndarray a not None, npy_intp least_length):
    """How many elements are 0, 1 and so on, up to the greatest.

    None where one is negative or so great that there is no memory for the counts, and for other dtypes.
    """
    cdef npy_intp length = least_length, i
    if cnp.PyArray_TYPE(a) != cnp.NPY_INT64:
        return None
    a = int64_index(a)
    cdef const npy_int64 *numbers = <const npy_int64 *>cnp.PyArray_DATA(a)
    for i in range(cnp.PyArray_SIZE(a)):
        if not 0 <= numbers[i] < GREATEST:
            return None
        length = max(length, numbers[i] + 1)
    counts = take(full_array(cnp.NPY_INT64, 1, &length, 0))
    cdef npy_int64 *count = <npy_int64 *>cnp.PyArray_DATA(counts)
    for i in range(cnp.PyArray_SIZE(a)):
        if 0 <= numbers[i] < length:        # another thread may have written to them
            count[numbers[i]] += 1
    return counts
