"""Loops behind gather, scatter and indexing by one array: move or add elements to where integers say.

Two shapes of the same idea. *Places*: every element of the index names one element along an axis. *Rows*: every
element of the index names a whole slice, and memory is (outer, length, inner). Indices come from `int64_index`,
checked, and count from 0.

Note [Indices are read once more]
Large loops let other threads run, and one of these may write to the index after it was checked. So the loops look at
each number again, where they read it: they stop at one that leads out of the array.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport cast, clone_by_rows, contiguous, full_array, is_meta, meta_array
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_beside, fresh_of_sizes, take
from gradsmith.runtime.arrays.functions.runs cimport MOST_RUNS, SHORT_RUN, Run, find_runs

import numpy as np

cnp.import_array()

# Elements that are only moved: their width is all that matters.
ctypedef fused bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    double complex

ctypedef float complex floatcomplex
ctypedef double complex doublecomplex

# Elements that are combined.
ctypedef fused number:
    float
    double
    floatcomplex
    doublecomplex
    int64_t

# Those among them that have an order.
ctypedef fused ordered:
    float
    double
    int64_t

cdef enum:
    LANES = 16
    LARGE = 4096            # elements from which on a loop lets other threads run

cdef struct Walk:
    int ndim
    npy_intp sizes[MAX_DIMS]        # of the index
    npy_intp named[MAX_DIMS]        # byte strides of the array the index points into; 0 along the axis
    npy_intp beside[MAX_DIMS]       # byte strides of the array that runs along with the index
    npy_intp step                   # byte stride of the first array along the axis
    npy_intp length                 # and how many elements it has there


cdef object int64_index(object index):
    """The index as the loops read it: in order, in one type. One without data stays without."""
    if is_meta(<PyObject *>index):
        return take(meta_array(cnp.NPY_INT64, cnp.PyArray_NDIM(index), cnp.PyArray_DIMS(index)))
    index = take(cast(<PyObject *>index, cnp.NPY_INT64))
    return take(contiguous(<PyObject *>index))


cdef bint is_within(object index, npy_intp low, npy_intp high, npy_intp *wrong) noexcept:
    """Whether all elements of such an index are at least `low` and below `high`; else `wrong` is one that is not."""
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef npy_intp i, size = cnp.PyArray_SIZE(index)
    if is_meta(<PyObject *>index) or are_within(chosen, size, low, high):
        return True
    for i in range(size):
        if not low <= chosen[i] < high:
            wrong[0] = chosen[i]
            return False
    return True


cdef bint are_within(const int64_t *chosen, npy_intp size, npy_intp low, npy_intp high) noexcept nogil:
    """The same without a branch for each: the distances from both bounds have no sign, all of them."""
    cdef uint64_t distances = 0
    cdef uint64_t first = low
    cdef uint64_t last = high - 1
    cdef npy_intp i
    if high <= low:
        return size == 0
    for i in range(size):
        distances |= (<uint64_t>chosen[i] - first) | (last - <uint64_t>chosen[i])
    return distances >> 63 == 0


cdef object wrapped_index(object index, npy_intp size):
    """An index from -size to size as one that counts from the start."""
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef int64_t *places
    cdef npy_intp i
    result = fresh_of_sizes(index, cnp.NPY_INT64, cnp.PyArray_NDIM(index), cnp.PyArray_DIMS(index))
    places = <int64_t *>cnp.PyArray_DATA(result)
    for i in range(cnp.PyArray_SIZE(index)):
        places[i] = chosen[i] + size if chosen[i] < 0 else chosen[i]
    return result


cdef object sum_dtype(object a):
    """In which dtype elements of `a` are added: its own where there is a loop for it.

    Else a wider one, in which the sum of integers is the same modulo the narrower one.
    """
    if is_addable(a):
        return a.dtype
    return np.dtype(np.float64 if a.dtype.kind == "f" else np.int64)


cdef bint is_addable(object a) noexcept:
    """Whether there is a loop that adds elements of this type."""
    return cnp.PyArray_TYPE(a) in (
        cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128, cnp.NPY_INT64)


# ---- places

cdef object gather_places(object a, int axis, object index):
    """Of each row along the axis the elements that the index names."""
    cdef Walk walk
    result = fresh_beside(a, cnp.PyArray_TYPE(a), index.shape)
    if is_meta(<PyObject *>a):
        return result
    if cnp.PyArray_SIZE(index):
        set_walk(&walk, a, axis, index, result)
        move_places(&walk, a, index, result, False)
    return result


cdef int scatter_places(object target, int axis, object index, object src) except -1:
    """Elements of `src`, of the index's size or one for all, written to the named places."""
    cdef Walk walk
    if cnp.PyArray_SIZE(index) == 0:
        return 0
    set_walk(&walk, target, axis, index, src)
    return move_places(&walk, target, index, src, True)


cdef void set_walk(Walk *walk, object named, int axis, object index, object beside) noexcept:
    cdef int i
    cdef bint has_dims = cnp.PyArray_NDIM(named) > 0
    cdef bint runs = cnp.PyArray_NDIM(beside) > 0
    walk.ndim = cnp.PyArray_NDIM(index)
    walk.step = cnp.PyArray_STRIDE(named, axis) if has_dims else 0
    walk.length = cnp.PyArray_DIM(named, axis) if has_dims else 1
    for i in range(walk.ndim):
        walk.sizes[i] = cnp.PyArray_DIM(index, i)
        walk.named[i] = cnp.PyArray_STRIDE(named, i) if has_dims and i != axis else 0
        walk.beside[i] = cnp.PyArray_STRIDE(beside, i) if runs else 0
    if walk.ndim == 0:
        walk.ndim = 1
        walk.sizes[0], walk.named[0], walk.beside[0] = 1, 0, 0


cdef bint advance(const Walk *walk, npy_intp *at, char **named, char **beside) noexcept nogil:
    """The next row of the index; False after the last."""
    cdef int i
    for i in range(walk.ndim - 2, -1, -1):
        at[i] += 1
        named[0] += walk.named[i]
        beside[0] += walk.beside[i]
        if at[i] < walk.sizes[i]:
            return True
        at[i] = 0
        named[0] -= walk.named[i] * walk.sizes[i]
        beside[0] -= walk.beside[i] * walk.sizes[i]
    return False


cdef int move_places(const Walk *walk, object named, object index, object beside, bint to_named) except -1:
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef char *one = cnp.PyArray_BYTES(named)
    cdef char *other = cnp.PyArray_BYTES(beside)
    cdef int width = cnp.PyArray_ITEMSIZE(named)
    cdef bint is_done
    if cnp.PyArray_SIZE(index) < LARGE:
        is_done = move_by_width(walk, width, one, chosen, other, to_named)
    else:
        with nogil:
            is_done = move_by_width(walk, width, one, chosen, other, to_named)
    return expect_done(is_done)


cdef int expect_done(bint is_done) except -1:
    if not is_done:
        raise IndexError("an index was changed by another thread while it was in use, to one that is out of range")
    return 0


cdef bint move_by_width(
    const Walk *walk, int width, char *one, const int64_t *chosen, char *other, bint to_named
) noexcept nogil:
    if width == 4:
        return move(walk, <uint32_t *>one, chosen, <uint32_t *>other, to_named)
    if width == 8:
        return move(walk, <uint64_t *>one, chosen, <uint64_t *>other, to_named)
    if width == 1:
        return move(walk, <uint8_t *>one, chosen, <uint8_t *>other, to_named)
    if width == 2:
        return move(walk, <uint16_t *>one, chosen, <uint16_t *>other, to_named)
    return move(walk, <double complex *>one, chosen, <double complex *>other, to_named)


cdef bint move(const Walk *walk, bits *one, const int64_t *chosen, bits *other, bint to_named) noexcept nogil:
    """False when an index was out of range; see Note [Indices are read once more]."""
    cdef npy_intp at[MAX_DIMS]
    cdef char *named = <char *>one
    cdef char *beside = <char *>other
    cdef int last = walk.ndim - 1
    cdef npy_intp j
    cdef bint is_done
    for j in range(walk.ndim):
        at[j] = 0
    while True:
        if walk.named[last] == 0 and walk.step == sizeof(bits) and walk.beside[last] == sizeof(bits):
            is_done = move_side_by_side(<bits *>named, chosen, <bits *>beside, walk.sizes[last], walk.length, to_named)
        else:
            is_done = move_row(walk, <bits *>named, chosen, <bits *>beside, to_named)
        if not is_done:
            return False
        chosen += walk.sizes[last]
        if not advance(walk, at, &named, &beside):
            return True


cdef inline bint move_side_by_side(
    bits *named, const int64_t *chosen, bits *beside, npy_intp n, npy_intp length, bint to_named
) noexcept nogil:
    """Along an axis of elements that lie side by side, as do those that come with the index."""
    cdef npy_intp j
    cdef int64_t place
    if to_named:
        for j in range(n):
            place = chosen[j]
            if <uint64_t>place >= <uint64_t>length:
                return False
            named[place] = beside[j]
    else:
        for j in range(n):
            place = chosen[j]
            if <uint64_t>place >= <uint64_t>length:
                return False
            beside[j] = named[place]
    return True


cdef inline bint move_row(
    const Walk *walk, bits *one, const int64_t *chosen, bits *other, bint to_named
) noexcept nogil:
    cdef char *named = <char *>one
    cdef char *beside = <char *>other
    cdef bits *named_place
    cdef bits *beside_place
    cdef npy_intp n = walk.sizes[walk.ndim - 1], step = walk.step, length = walk.length, j
    cdef npy_intp named_step = walk.named[walk.ndim - 1], beside_step = walk.beside[walk.ndim - 1]
    cdef int64_t place
    for j in range(n):
        place = chosen[j]
        if <uint64_t>place >= <uint64_t>length:
            return False
        named_place = <bits *>(named + place * step + j * named_step)
        beside_place = <bits *>(beside + j * beside_step)
        if to_named:
            named_place[0] = beside_place[0]
        else:
            beside_place[0] = named_place[0]
    return True


cdef int reduce_places(object target, int axis, object index, object src, Reduction how) except -1:
    """Elements of `src`, of the index's size or one for all, combined with those of the named places.

    They are numbers for which there is a loop (see `is_addable`), and without an order they are only added or multiplied.
    """
    cdef Walk walk
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef char *one = cnp.PyArray_BYTES(target)
    cdef char *other = cnp.PyArray_BYTES(src)
    cdef int type_number = cnp.PyArray_TYPE(target)
    cdef bint is_done
    if cnp.PyArray_SIZE(index) == 0:
        return 0
    set_walk(&walk, target, axis, index, src)
    if cnp.PyArray_SIZE(index) < LARGE:
        is_done = reduce_by_type(&walk, type_number, one, chosen, other, how)
    else:
        with nogil:
            is_done = reduce_by_type(&walk, type_number, one, chosen, other, how)
    return expect_done(is_done)


cdef bint reduce_by_type(
    const Walk *walk, int type_number, char *one, const int64_t *chosen, char *other, Reduction how
) noexcept nogil:
    if type_number == cnp.NPY_FLOAT32:
        return reduce(walk, <float *>one, chosen, <float *>other, how)
    if type_number == cnp.NPY_FLOAT64:
        return reduce(walk, <double *>one, chosen, <double *>other, how)
    if type_number == cnp.NPY_COMPLEX64:
        return reduce(walk, <float complex *>one, chosen, <float complex *>other, how)
    if type_number == cnp.NPY_COMPLEX128:
        return reduce(walk, <double complex *>one, chosen, <double complex *>other, how)
    return reduce(walk, <int64_t *>one, chosen, <int64_t *>other, how)


cdef bint reduce(const Walk *walk, number *one, const int64_t *chosen, number *other, Reduction how) noexcept nogil:
    """False when an index was out of range."""
    cdef npy_intp at[MAX_DIMS]
    cdef char *named = <char *>one
    cdef char *beside = <char *>other
    cdef npy_intp j
    cdef bint is_done
    for j in range(walk.ndim):
        at[j] = 0
    while True:
        if how == REDUCED_SUM:
            is_done = reduce_beside(walk, <number *>named, chosen, <number *>beside, REDUCED_SUM)
        elif how == REDUCED_PROD:
            is_done = reduce_beside(walk, <number *>named, chosen, <number *>beside, REDUCED_PROD)
        elif how == REDUCED_AMAX:
            is_done = reduce_beside(walk, <number *>named, chosen, <number *>beside, REDUCED_AMAX)
        else:
            is_done = reduce_beside(walk, <number *>named, chosen, <number *>beside, REDUCED_AMIN)
        if not is_done:
            return False
        chosen += walk.sizes[walk.ndim - 1]
        if not advance(walk, at, &named, &beside):
            return True


cdef inline bint reduce_beside(
    const Walk *walk, number *one, const int64_t *chosen, number *other, Reduction how
) noexcept nogil:
    """One row of the index."""
    cdef char *named = <char *>one
    cdef char *beside = <char *>other
    cdef npy_intp n = walk.sizes[walk.ndim - 1], step = walk.step, length = walk.length, j
    cdef npy_intp named_step = walk.named[walk.ndim - 1], beside_step = walk.beside[walk.ndim - 1]
    cdef int64_t place
    cdef number *reduced
    if named_step == 0 and step == sizeof(number) and beside_step == sizeof(number):
        for j in range(n):
            place = chosen[j]
            if <uint64_t>place >= <uint64_t>length:
                return False
            one[place] = combined(one[place], other[j], how)
        return True
    for j in range(n):
        place = chosen[j]
        if <uint64_t>place >= <uint64_t>length:
            return False
        reduced = <number *>(named + place * step + j * named_step)
        reduced[0] = combined(reduced[0], (<number *>(beside + j * beside_step))[0], how)
    return True


cdef inline number combined(number a, number b, Reduction how) noexcept nogil:
    """A NaN is greater and less than all."""
    if how == REDUCED_SUM:
        return a + b
    if how == REDUCED_PROD:
        return a * b
    if number is not floatcomplex and number is not doublecomplex:
        if how == REDUCED_AMAX:
            return b if b > a or b != b else a
        return b if b < a or b != b else a
    return a


# ---- products of the others
#
# Elements that come to one place are a group, with the one that is there. Before each of them its group has a product of
# those that came before; in the order turned round, of those that come after.

cdef tuple products_of_others(object a, int axis, object index, object src):
    """For each element of `a`, and each that the index takes of `src`, the product of the others of its group.

    Without a division, which a zero would spoil. The elements are numbers that `is_addable` knows; of `src` those that the
    index passes over have ones.
    """
    cdef int type_number = cnp.PyArray_TYPE(a)
    src = take(contiguous(<PyObject *>src))
    of_self = take(full_array(type_number, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a), 1))
    of_src = take(full_array(type_number, cnp.PyArray_NDIM(src), cnp.PyArray_DIMS(src), 1))
    if cnp.PyArray_SIZE(index) == 0:
        return of_self, of_src
    multiply_past(of_self, axis, index, src, of_src)
    products = take(clone_by_rows(<PyObject *>a))
    if index.ndim and src.ndim:
        back = tuple([slice(None, None, -1) if d == axis else slice(None) for d in range(index.ndim)])
        taken = tuple([slice(length) for length in index.shape])
        index = take(contiguous(<PyObject *>index[back]))
        multiply_past(products, axis, index, src[taken][back], of_src[taken][back])
    else:
        multiply_past(products, axis, index, src, of_src)
    return of_self, of_src


cdef int multiply_past(object products, int axis, object index, object src, object found) except -1:
    """Elements of `found` times the products at the named places, which are multiplied by elements of `src` then."""
    cdef Walk walk
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef char *one = cnp.PyArray_BYTES(products)
    cdef char *other = cnp.PyArray_BYTES(src)
    cdef char *third = cnp.PyArray_BYTES(found)
    cdef int type_number = cnp.PyArray_TYPE(products)
    cdef bint is_done
    set_walk(&walk, products, axis, index, src)
    with nogil:
        is_done = multiply_by_type(&walk, type_number, one, chosen, other, third)
    return expect_done(is_done)


cdef bint multiply_by_type(
    const Walk *walk, int type_number, char *one, const int64_t *chosen, char *other, char *third
) noexcept nogil:
    if type_number == cnp.NPY_FLOAT32:
        return multiply(walk, <float *>one, chosen, other, third - other)
    if type_number == cnp.NPY_FLOAT64:
        return multiply(walk, <double *>one, chosen, other, third - other)
    if type_number == cnp.NPY_COMPLEX64:
        return multiply(walk, <float complex *>one, chosen, other, third - other)
    if type_number == cnp.NPY_COMPLEX128:
        return multiply(walk, <double complex *>one, chosen, other, third - other)
    return multiply(walk, <int64_t *>one, chosen, other, third - other)


cdef bint multiply(
    const Walk *walk, number *one, const int64_t *chosen, char *beside, npy_intp to_found
) noexcept nogil:
    """Results lie as the elements beside do, so far from them. False when an index was out of range."""
    cdef npy_intp at[MAX_DIMS]
    cdef char *named = <char *>one
    cdef int last = walk.ndim - 1
    cdef npy_intp j
    cdef int64_t place
    cdef number *product
    cdef number *found
    for j in range(walk.ndim):
        at[j] = 0
    while True:
        for j in range(walk.sizes[last]):
            place = chosen[j]
            if <uint64_t>place >= <uint64_t>walk.length:
                return False
            product = <number *>(named + place * walk.step + j * walk.named[last])
            found = <number *>(beside + to_found + j * walk.beside[last])
            found[0] = found[0] * product[0]
            product[0] = product[0] * (<number *>(beside + j * walk.beside[last]))[0]
        chosen += walk.sizes[last]
        if not advance(walk, at, &named, &beside):
            return True


# ---- rows

cdef int row_sizes(object a, int first, int count, object index, npy_intp *sizes) except -1:
    cdef int own = cnp.PyArray_NDIM(a), named = cnp.PyArray_NDIM(index), ndim = own - count + named
    if ndim > MAX_DIMS:
        raise RuntimeError(f"tensors have at most {MAX_DIMS} dimensions, but {ndim} sizes were given")
    memcpy(sizes, cnp.PyArray_DIMS(a), first * sizeof(npy_intp))
    if named:       # else there are no sizes, and C forbids copying even nothing from a null pointer
        memcpy(sizes + first, cnp.PyArray_DIMS(index), named * sizeof(npy_intp))
    memcpy(sizes + first + named, cnp.PyArray_DIMS(a) + first + count, (own - first - count) * sizeof(npy_intp))
    return ndim


cdef object take_rows(object a, int first, int count, object index):
    """a[..., index, ...], where a flat index stands for `count` axes."""
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim = row_sizes(a, first, count, index, sizes)
    cdef npy_intp outer, inner, rows, length
    cdef bint is_done
    cdef const char *source
    cdef const int64_t *chosen
    cdef char *target
    result = fresh_of_sizes(a, cnp.PyArray_TYPE(a), ndim, sizes)
    if is_meta(<PyObject *>a):
        return result
    a = take(contiguous(<PyObject *>a))
    source, target = cnp.PyArray_BYTES(a), cnp.PyArray_BYTES(result)
    chosen = <const int64_t *>cnp.PyArray_DATA(index)
    rows, length = cnp.PyArray_SIZE(index), product(a, first, first + count)
    outer = product(a, 0, first)
    inner = product(a, first + count, cnp.PyArray_NDIM(a)) * cnp.PyArray_ITEMSIZE(a)
    if cnp.PyArray_SIZE(result) < LARGE:
        is_done = take_each_row(target, source, chosen, outer, length, rows, inner)
    else:
        with nogil:
            is_done = take_each_row(target, source, chosen, outer, length, rows, inner)
    expect_done(is_done)
    return result


cdef bint take_each_row(
    char *target, const char *source, const int64_t *chosen, npy_intp outer, npy_intp length, npy_intp rows,
    npy_intp inner
) noexcept nogil:
    """Rows of `inner` bytes. False when an index was out of range; see Note [Indices are read once more]."""
    cdef npy_intp o, count
    cdef bint is_done
    cdef Run runs[MOST_RUNS]
    count = find_runs(runs, chosen, rows, length)
    for o in range(outer):
        if count and inner == 4:
            take_runs(<uint32_t *>target, <const uint32_t *>source, runs, count)
            is_done = True
        elif count and inner == 8:
            take_runs(<uint64_t *>target, <const uint64_t *>source, runs, count)
            is_done = True
        elif count:
            copy_runs(target, source, runs, count, inner)
            is_done = True
        elif inner == 4:
            is_done = take_each(<uint32_t *>target, <const uint32_t *>source, chosen, length, rows)
        elif inner == 8:
            is_done = take_each(<uint64_t *>target, <const uint64_t *>source, chosen, length, rows)
        elif inner == 1:
            is_done = take_each(<uint8_t *>target, <const uint8_t *>source, chosen, length, rows)
        elif inner == 2:
            is_done = take_each(<uint16_t *>target, <const uint16_t *>source, chosen, length, rows)
        elif inner == 16:
            is_done = take_each(<double complex *>target, <const double complex *>source, chosen, length, rows)
        else:
            is_done = copy_each_row(target, source, chosen, length, rows, inner)
        if not is_done:
            return False
        source += length * inner
        target += rows * inner
    return True


cdef inline void take_runs(bits *target, const bits *source, const Run *runs, npy_intp count) noexcept nogil:
    cdef npy_intp i, k
    for i in range(count):
        if runs[i].length <= SHORT_RUN:
            for k in range(runs[i].length):
                target[k] = source[runs[i].place + k]
        else:
            memcpy(target, source + runs[i].place, runs[i].length * sizeof(bits))
        target += runs[i].length


cdef inline void copy_runs(
    char *target, const char *source, const Run *runs, npy_intp count, npy_intp inner
) noexcept nogil:
    cdef npy_intp i
    for i in range(count):
        memcpy(target, source + runs[i].place * inner, runs[i].length * inner)
        target += runs[i].length * inner


cdef inline bint take_each(
    bits *target, const bits *source, const int64_t *chosen, npy_intp length, npy_intp rows
) noexcept nogil:
    cdef npy_intp i
    cdef int64_t place
    for i in range(rows):
        place = chosen[i]
        if <uint64_t>place >= <uint64_t>length:
            return False
        target[i] = source[place]
    return True


cdef inline bint copy_each_row(
    char *target, const char *source, const int64_t *chosen, npy_intp length, npy_intp rows, npy_intp inner
) noexcept nogil:
    cdef npy_intp i
    cdef int64_t place
    for i in range(rows):
        place = chosen[i]
        if <uint64_t>place >= <uint64_t>length:
            return False
        memcpy(target + i * inner, source + place * inner, inner)
    return True


cdef int put_rows(object target, int first, int count, object index, object src) except -1:
    """target[..., index, ...] = src, where a flat index stands for `count` axes; all memory in order.

    Of rows that come to one place the last stays.
    """
    cdef npy_intp outer = product(target, 0, first)
    cdef npy_intp length = product(target, first, first + count)
    cdef npy_intp inner = product(target, first + count, cnp.PyArray_NDIM(target)) * cnp.PyArray_ITEMSIZE(target)
    cdef npy_intp rows = cnp.PyArray_SIZE(index)
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef char *to = <char *>data(target)
    cdef const char *source = <const char *>data(src)
    cdef bint is_done
    if cnp.PyArray_SIZE(src) < LARGE:
        is_done = put_each_row(to, source, chosen, outer, length, rows, inner)
    else:
        with nogil:
            is_done = put_each_row(to, source, chosen, outer, length, rows, inner)
    return expect_done(is_done)


cdef bint put_each_row(
    char *target, const char *source, const int64_t *chosen, npy_intp outer, npy_intp length, npy_intp rows,
    npy_intp inner
) noexcept nogil:
    """Rows of `inner` bytes. False when an index was out of range; see Note [Indices are read once more]."""
    cdef npy_intp o
    cdef bint is_done = True
    for o in range(outer):
        if inner == 4:
            is_done = put_each(<uint32_t *>target, <const uint32_t *>source, chosen, length, rows)
        elif inner == 8:
            is_done = put_each(<uint64_t *>target, <const uint64_t *>source, chosen, length, rows)
        elif inner == 1:
            is_done = put_each(<uint8_t *>target, <const uint8_t *>source, chosen, length, rows)
        elif inner == 2:
            is_done = put_each(<uint16_t *>target, <const uint16_t *>source, chosen, length, rows)
        elif inner == 16:
            is_done = put_each(<double complex *>target, <const double complex *>source, chosen, length, rows)
        else:
            is_done = write_each_row(target, source, chosen, length, rows, inner)
        if not is_done:
            return False
        target += length * inner
        source += rows * inner
    return True


cdef inline bint put_each(
    bits *target, const bits *source, const int64_t *chosen, npy_intp length, npy_intp rows
) noexcept nogil:
    cdef npy_intp i
    cdef int64_t place
    for i in range(rows):
        place = chosen[i]
        if <uint64_t>place >= <uint64_t>length:
            return False
        target[place] = source[i]
    return True


cdef inline bint write_each_row(
    char *target, const char *source, const int64_t *chosen, npy_intp length, npy_intp rows, npy_intp inner
) noexcept nogil:
    cdef npy_intp i
    cdef int64_t place
    for i in range(rows):
        place = chosen[i]
        if <uint64_t>place >= <uint64_t>length:
            return False
        memcpy(target + place * inner, source + i * inner, inner)
    return True


cdef int add_rows(object target, int first, int count, object index, object src) except -1:
    """target[..., index, ...] += src, where a flat index stands for `count` axes; all memory in order."""
    cdef npy_intp outer = product(target, 0, first)
    cdef npy_intp length = product(target, first, first + count)
    cdef npy_intp inner = product(target, first + count, cnp.PyArray_NDIM(target))
    cdef int type_number = cnp.PyArray_TYPE(target)
    cdef npy_intp rows
    cdef bint is_done
    cdef const int64_t *chosen
    cdef void *sums = data(target)
    cdef void *added
    src = take(contiguous(<PyObject *>src))
    added = data(src)
    rows, chosen = cnp.PyArray_SIZE(index), <const int64_t *>cnp.PyArray_DATA(index)
    with nogil:
        is_done = add_rows_by_type(type_number, sums, added, chosen, outer, length, rows, inner)
    return expect_done(is_done)


cdef int add_at_places(object sums, object places, object values) except -1:
    """sums[places] += values, a repeated place as often as it comes: vectors, of memory in order and of any dtype."""
    wide = sums.astype(sum_dtype(sums), copy=False)
    add_rows(wide, 0, 1, int64_index(places), values.astype(wide.dtype, copy=False))
    if wide is not sums:
        sums[...] = wide
    return 0


cdef bint add_rows_by_type(
    int type_number, void *sums, void *added, const int64_t *chosen, npy_intp outer, npy_intp length, npy_intp rows,
    npy_intp inner
) noexcept nogil:
    if type_number == cnp.NPY_FLOAT32:
        return add_each_row(<float *>sums, <float *>added, chosen, outer, length, rows, inner)
    if type_number == cnp.NPY_FLOAT64:
        return add_each_row(<double *>sums, <double *>added, chosen, outer, length, rows, inner)
    if type_number == cnp.NPY_COMPLEX64:
        return add_each_row(<float complex *>sums, <float complex *>added, chosen, outer, length, rows, inner)
    if type_number == cnp.NPY_COMPLEX128:
        return add_each_row(<double complex *>sums, <double complex *>added, chosen, outer, length, rows, inner)
    return add_each_row(<int64_t *>sums, <int64_t *>added, chosen, outer, length, rows, inner)


cdef void *data(object array) noexcept:
    return cnp.PyArray_DATA(array)


cdef npy_intp product(object a, int start, int stop) noexcept:
    cdef npy_intp result = 1
    cdef int i
    for i in range(start, stop):
        result *= cnp.PyArray_DIM(a, i)
    return result


cdef bint add_each_row(
    number *target, const number *src, const int64_t *chosen, npy_intp outer, npy_intp length, npy_intp rows,
    npy_intp inner
) noexcept nogil:
    cdef npy_intp o, i, count
    cdef int64_t place
    cdef Run runs[MOST_RUNS]
    count = find_runs(runs, chosen, rows, length)
    if outer == 1 and inner == 1 and count == 0:
        return add_each(target, src, chosen, length, rows)
    for o in range(outer):
        for i in range(count):
            add_row(target + runs[i].place * inner, src, runs[i].length * inner)
            src += runs[i].length * inner
        for i in range(0 if count else rows):
            place = chosen[i]
            if <uint64_t>place >= <uint64_t>length:
                return False
            add_row(target + place * inner, src, inner)
            src += inner
        target += length * inner
    return True


cdef inline bint add_each(
    number *target, const number *src, const int64_t *chosen, npy_intp length, npy_intp rows
) noexcept nogil:
    cdef npy_intp i
    cdef int64_t place
    for i in range(rows):
        place = chosen[i]
        if <uint64_t>place >= <uint64_t>length:
            return False
        target[place] = target[place] + src[i]
    return True


cdef inline void add_row(number *row, const number *src, npy_intp length) noexcept nogil:
    """Lane by lane through a block that cannot overlap, so that the compiler may use vector instructions."""
    cdef number lanes[LANES]
    cdef npy_intp j
    while length >= LANES:
        for j in range(LANES):
            lanes[j] = row[j] + src[j]
        for j in range(LANES):
            row[j] = lanes[j]
        row, src, length = row + LANES, src + LANES, length - LANES
    for j in range(length):
        row[j] = row[j] + src[j]


cdef int reduce_rows(object target, int axis, object index, object src, Reduction how) except -1:
    """target[..., index, ...] combined with src along an axis, but for sums; all memory in order."""
    cdef npy_intp outer = product(target, 0, axis)
    cdef npy_intp length = cnp.PyArray_DIM(target, axis)
    cdef npy_intp inner = product(target, axis + 1, cnp.PyArray_NDIM(target))
    cdef npy_intp rows = cnp.PyArray_SIZE(index)
    cdef const int64_t *chosen = <const int64_t *>cnp.PyArray_DATA(index)
    cdef int type_number = cnp.PyArray_TYPE(target)
    cdef void *reduced = data(target)
    cdef void *values
    cdef bint is_done
    src = take(contiguous(<PyObject *>src))
    values = data(src)
    with nogil:
        if type_number == cnp.NPY_FLOAT32:
            is_done = reduce_each_row(<float *>reduced, <float *>values, chosen, outer, length, rows, inner, how)
        elif type_number == cnp.NPY_FLOAT64:
            is_done = reduce_each_row(<double *>reduced, <double *>values, chosen, outer, length, rows, inner, how)
        else:
            is_done = reduce_each_row(<int64_t *>reduced, <int64_t *>values, chosen, outer, length, rows, inner, how)
    return expect_done(is_done)


cdef bint reduce_each_row(
    ordered *target, const ordered *src, const int64_t *chosen, npy_intp outer, npy_intp length, npy_intp rows,
    npy_intp inner, Reduction how
) noexcept nogil:
    cdef npy_intp o, i
    cdef int64_t place
    for o in range(outer):
        for i in range(rows):
            place = chosen[i]
            if <uint64_t>place >= <uint64_t>length:
                return False
            if how == REDUCED_PROD:
                reduce_row(target + place * inner, src, inner, REDUCED_PROD)
            elif how == REDUCED_AMAX:
                reduce_row(target + place * inner, src, inner, REDUCED_AMAX)
            else:
                reduce_row(target + place * inner, src, inner, REDUCED_AMIN)
            src += inner
        target += length * inner
    return True


cdef inline void reduce_row(ordered *row, const ordered *src, npy_intp length, Reduction how) noexcept nogil:
    """Lane by lane, as `add_row`."""
    cdef ordered lanes[LANES]
    cdef npy_intp j
    while length >= LANES:
        for j in range(LANES):
            lanes[j] = combined(row[j], src[j], how)
        for j in range(LANES):
            row[j] = lanes[j]
        row, src, length = row + LANES, src + LANES, length - LANES
    for j in range(length):
        row[j] = combined(row[j], src[j], how)
