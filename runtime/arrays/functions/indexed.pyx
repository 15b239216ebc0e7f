"""Elements by index: NumPy's indexing with PyTorch's rules, and its transposes.

Note [Integers come first]
NumPy treats an integer beside index arrays as one more index array: ``x[0, :, [1, 2]]`` has the arrays apart, and their
dimension moves to the front. PyTorch first takes what integers, slices and None select, then applies the arrays to
that. Both agree without integers; with them `split_index` separates the two steps.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.string cimport memcpy
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    binary_scalar,
    clone,
    clone_by_rows,
    contiguous,
    copy_into,
    full_array,
    is_meta,
    NOT_EQUAL,
    readable_copy,
    where,
)
from gradsmith.runtime.arrays.functions.masked.chosen cimport elements_under, fill_under, write_under
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport fresh_of_sizes, fresh_zeros, MAX_DIMS, take
from gradsmith.runtime.arrays.functions.scatter_gather cimport (
    Reduction,
    add_at_places,
    add_rows,
    gather_places,
    int64_index,
    REDUCED_AMAX,
    REDUCED_AMIN,
    REDUCED_PROD,
    REDUCED_SUM,
    is_addable,
    is_within,
    products_of_others,
    put_rows,
    reduce_places,
    reduce_rows,
    row_sizes,
    scatter_places,
    sum_dtype,
    take_rows,
    wrapped_index,
)
from gradsmith.runtime.arrays.functions.shapes cimport broadcast_sizes, expand_of
from gradsmith.runtime.arrays.overlap cimport ranges_meet

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, element_of
from gradsmith.runtime.arrays.functions.index_shapes import indexed_shape

cnp.import_array()

cdef enum:
    FEW = 4     # times as many elements as places make a copy of rows cheaper than numbers of all elements
    SMALL = 4096    # elements up to which a loop over them costs less than NumPy's indexing, and other threads may wait

cdef extern from "numpy/arrayobject.h":
    npy_intp PyArray_CountNonzero(cnp.ndarray) except? -1

cdef extern from "Python.h":
    int PyObject_SetItem(object, object, object) except? -1


# ---- index arrays and masks

cdef object is_plain(object part):
    return part is None or part is Ellipsis or isinstance(part, (int, slice)) and not isinstance(part, bool)


cdef object as_index(object part):
    """The array of an index; uint8 ones are masks."""
    array = part if cnp.PyArray_CheckExact(part) else np.asarray(part)
    return array != 0 if cnp.PyArray_TYPE(array) == cnp.NPY_UINT8 and not is_meta(<PyObject *>array) else array


cdef bint is_one_array_of_integers(object index) except -1:
    if type(index) is not tuple or len(<tuple>index) != 1 or not cnp.PyArray_CheckExact((<tuple>index)[0]):
        return False
    array = (<tuple>index)[0]
    return cnp.PyArray_TYPE(array) == cnp.NPY_INT64 and cnp.PyArray_SIZE(array) > 0


cdef bint is_usual(object index) except -1:
    """Is it a tuple of slices and of arrays of integers or masks, none of them without elements?"""
    if type(index) is not tuple:
        return False
    for part in <tuple>index:
        if type(part) is slice:
            continue
        if not cnp.PyArray_CheckExact(part) or cnp.PyArray_SIZE(part) == 0:
            return False
        if cnp.PyArray_TYPE(part) != cnp.NPY_INT64 and cnp.PyArray_TYPE(part) != cnp.NPY_BOOL:
            return False
    return True


cdef tuple split_index(object a, object index):
    """Split an index into the part that selects a view and the rest. See Note [Integers come first]."""
    if is_usual(index):
        return None, index
    cdef list basic = []
    cdef list advanced = []
    cdef Py_ssize_t width
    parts = [part if is_plain(part) else as_index(part) for part in (index if isinstance(index, tuple) else (index,))]
    if any([isinstance(part, cnp.ndarray) and part.size == 0 for part in parts]):
        check_empty_masks(parts, a.shape)
    if not any([isinstance(part, int) for part in parts]):
        # NumPy takes arrays with an Ellipsis between them for apart also where it stands for no dimension.
        return None, tuple(expanded(parts, a.ndim) if any([part is Ellipsis for part in parts]) else parts)
    for part in expanded(parts, a.ndim):
        if isinstance(part, cnp.ndarray):
            width = part.ndim if part.dtype.kind == "b" else 1
            basic.extend([slice(None)] * width)
            advanced.append(part)
        else:
            basic.append(part)
            if not isinstance(part, int):
                advanced.append(slice(None))
    return (*basic, ...), tuple(advanced)


cdef int check_empty_masks(list parts, tuple shape) except -1:
    """NumPy takes a mask without elements whatever it indexes."""
    cdef Py_ssize_t dim = 0
    for part in expanded(parts, len(shape)):
        is_mask = isinstance(part, cnp.ndarray) and part.dtype.kind == "b"
        if is_mask and part.size == 0 and part.shape != shape[dim : dim + part.ndim]:
            raise IndexError(
                f"the shape of the mask {list(part.shape)} does not match the dimensions "
                f"{list(shape[dim : dim + part.ndim])} it indexes"
            )
        dim += part.ndim if is_mask else part is not None
    return 0


cdef list expanded(list parts, int ndim):
    """Ellipsis written out."""
    cdef Py_ssize_t used = 0
    for part in parts:
        if isinstance(part, cnp.ndarray):
            used += part.ndim if part.dtype.kind == "b" else 1
        elif part is not None and part is not Ellipsis:
            used += 1
    result = []
    for part in parts:
        if part is Ellipsis:
            result.extend([slice(None)] * max(ndim - used, 0))
        else:
            result.append(part)
    return result


cpdef object index_of(object a, object index):
    basic, advanced = split_index(a, index)
    source = a if basic is None else a[basic]
    if is_meta(<PyObject *>a):
        return array_without_data(indexed_shape(source.shape, advanced), a.dtype)
    mask = whole_mask(source, advanced)
    found = None if mask is None else elements_under(source, mask)
    if found is not None:
        return found
    rows = rows_of(source, advanced)
    if rows is None:
        return np.asarray(source[advanced], order="C")
    first, count, places = rows
    return take_rows(source, first, count, places)


cpdef object index_backward_of(object a, object shape, object index):
    """Zeros of `shape`, to which the elements of `a` are added where the index takes them from."""
    if is_meta(<PyObject *>a):
        return array_without_data(shape, a.dtype)
    result = fresh_zeros(cnp.PyArray_TYPE(a), tuple(shape))
    basic, advanced = split_index(result, index)
    add_at(result if basic is None else result[basic], advanced, a)
    return result


cpdef object index_put_of(object a, object index, object values, bint accumulate):
    """Copy of `a` with the values at the indexed places, or added there."""
    if not isinstance(a, cnp.ndarray):
        raise TypeError(f"index_put(): expected an array, but got {type(a).__name__}")
    basic, advanced = split_index(a, index)
    result = readable_copy(a) if is_meta(<PyObject *>a) else take(clone(<PyObject *>a))
    put(result, basic, advanced, values, accumulate)
    return result


cpdef int index_put_into(object a, object index, object values, bint accumulate) except -1:
    basic, advanced = split_index(a, apart_from(a, index))
    return put(a, basic, advanced, apart_from(a, values), accumulate)


cdef int put(object a, object basic, tuple advanced, object values, bint accumulate) except -1:
    target = a if basic is None else a[basic]
    values = put_values(target, advanced, values, accumulate)
    if not accumulate and (written_under_mask(target, advanced, values) or written_by_rows(target, advanced, values)):
        return 0
    check_values(target, advanced, values)
    if is_meta(<PyObject *>a):
        return 0
    return add_at(target, advanced, values) if accumulate else assign(target, advanced, values)


cdef bint written_under_mask(object target, tuple index, object values) except -1:
    """``target[mask] = values`` of a mask for all elements. False where that is not so simple, and nothing is written."""
    cdef npy_intp count
    mask = whole_mask(target, index)
    if mask is None or cnp.PyArray_NDIM(values) > 1 or is_meta(<PyObject *>target):
        return False
    if cnp.PyArray_SIZE(values) == 1:
        return fill_under(target, mask, values)
    count = PyArray_CountNonzero(<cnp.ndarray>mask)
    if cnp.PyArray_SIZE(values) != count or cnp.PyArray_TYPE(values) != cnp.PyArray_TYPE(target):
        return False
    return write_under(target, mask, values, count)


cdef object whole_mask(object target, tuple index):
    """The mask of an index that is one mask in the shape of the target, else None."""
    if len(index) != 1 or not cnp.PyArray_CheckExact(index[0]):
        return None
    mask = index[0]
    if cnp.PyArray_TYPE(<cnp.ndarray>mask) != cnp.NPY_BOOL or is_meta(<PyObject *>mask):
        return None
    return mask if cnp.PyArray_SAMESHAPE(<cnp.ndarray>mask, <cnp.ndarray>target) and mask.ndim else None


cdef bint written_by_rows(object target, tuple index, object values) except -1:
    """``target[index] = values`` of memory in order. False where that is not so simple, and nothing is written."""
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim
    if not (is_in_order(target) and cnp.PyArray_ISBEHAVED(target) and is_usual(index)):
        return False
    if is_meta(<PyObject *>values) or cnp.PyArray_TYPE(values) != cnp.PyArray_TYPE(target):
        return False
    try:
        rows = rows_of(target, index)
    except IndexError:      # which the general path reports
        return False
    if rows is None:
        return False
    first, count, places = rows
    ndim = row_sizes(target, first, count, places, sizes)
    source = spread(values, ndim, sizes)
    if source is None:
        return False
    put_rows(target, first, count, places, source)
    return True


cdef bint is_in_order(object a) noexcept:
    return cnp.PyArray_IS_C_CONTIGUOUS(a) and not is_meta(<PyObject *>a)


cdef object spread(object values, int ndim, npy_intp *sizes):
    """Values broadcast to sizes, in order; None where they do not."""
    cdef int extra = ndim - cnp.PyArray_NDIM(values), dim
    cdef bint is_whole = extra == 0
    if extra < 0:
        return None
    for dim in range(cnp.PyArray_NDIM(values)):
        if cnp.PyArray_DIM(values, dim) != sizes[dim + extra]:
            is_whole = False
            if cnp.PyArray_DIM(values, dim) != 1:
                return None
    if is_whole and cnp.PyArray_ISBEHAVED_RO(values):
        return take(contiguous(<PyObject *>values))
    result = fresh_of_sizes(values, cnp.PyArray_TYPE(values), ndim, sizes)
    copy_into(<PyObject *>result, <PyObject *>values)
    return result


cdef object apart_from(object target, object operand):
    """An operand, perhaps a tuple of them, that stays what it is while `target` is written."""
    if isinstance(operand, tuple):
        return tuple([apart_from(target, part) for part in operand])
    if isinstance(operand, cnp.ndarray) and not is_meta(<PyObject *>operand) and ranges_meet(target, operand):
        return operand.copy()
    return operand


cdef int assign(object target, object index, object values) except -1:
    """``target[index] = values``. NumPy has failed for want of memory when it fails without an exception."""
    if PyObject_SetItem(target, index, values) < 0:
        raise MemoryError()
    return 0


cdef object put_values(object target, tuple index, object values, bint accumulate):
    """Values of the target's dtype. Under a mask one number of any dtype is a number, which has to fit."""
    if not isinstance(values, cnp.ndarray) or cnp.PyArray_TYPE(values) == cnp.PyArray_TYPE(target):
        return writable("index_put", values, target.dtype)
    if not accumulate and values.size == 1 and is_one_mask(index):
        return values.astype(target.dtype) if is_meta(<PyObject *>values) else element_of(values.item(), target.dtype)
    check_arrays(target, index)
    return writable("index_put", values, target.dtype)


cdef bint is_one_mask(tuple index) except -1:
    masks = [part for part in index if isinstance(part, cnp.ndarray)]
    return len(masks) == 1 and masks[0].dtype.kind == "b" and masks[0].ndim > 0


cdef int check_arrays(object target, tuple index) except -1:
    """Refuse arrays that fit neither the target nor each other, whatever places they name."""
    parts = [
        np.zeros(part.shape, np.int64) if isinstance(part, cnp.ndarray) and part.dtype.kind in "iu" else part
        for part in index
    ]
    if not is_meta(<PyObject *>target):
        places_shape(target, tuple(parts))
    return 0


cdef tuple places_shape(object target, tuple index):
    return expand_of(np.empty((), np.bool_), target.shape)[index].shape


cdef object writable(str op, object values, object dtype):
    """Values, which have the dtype of what they are written to, or a number that fits it."""
    if not isinstance(values, cnp.ndarray):
        return element_of(values, dtype)
    if cnp.PyArray_TYPE(values) == (<cnp.dtype>dtype).type_num:
        return values
    raise RuntimeError(
        f"{op}(): values of dtype {values.dtype} cannot be written to a {dtype} tensor; convert them first, with "
        f".to(gradsmith.{dtype})"
    )


cdef int check_values(object target, tuple index, object values) except -1:
    """Values broadcast to the indexed places; asked before anything is written."""
    if values.ndim == 0:
        return 0
    if is_meta(<PyObject *>target):
        places = indexed_shape(target.shape, index)
    elif is_one_array_of_integers(index) and cnp.PyArray_NDIM(target):
        places = (*index[0].shape, *target.shape[1:])
    else:
        places = places_shape(target, index)
    if not expands_to(values.shape, places):
        raise RuntimeError(
            f"index_put(): values of size {list(values.shape)} cannot be broadcast to the indexed size {list(places)}"
        )
    return 0


cdef bint expands_to(tuple shape, tuple whole) noexcept:
    cdef Py_ssize_t extra = len(whole) - len(shape), i
    if extra < 0:
        return False
    for i in range(len(shape)):
        if shape[i] != 1 and shape[i] != whole[i + extra]:
            return False
    return True


cdef int add_at(object target, object index, object values) except -1:
    """target[index] += values, a repeated place as often as it comes."""
    if only_masks(index):       # these name each place once
        return assign(target, index, target[index] + values)
    rows = rows_of(target, index)
    if rows is None:
        return add_one_by_one(target, index, values)
    first, count, places = rows
    if not is_addable(target) or not target.flags.c_contiguous:
        if FEW * cnp.PyArray_SIZE(places) < target.size:
            return add_to_few(target, first, count, places, values)
        return add_one_by_one(target, index, values)
    expected = (*target.shape[:first], *places.shape, *target.shape[first + count:])
    values = expand_of(values, expected)
    return add_rows(target, first, count, places, values.astype(target.dtype, copy=False))


cdef int add_to_few(object target, int first, int count, object places, object values) except -1:
    """Add to a copy of the rows that are named, which goes back, so that the rest of a large target is not looked at."""
    named, again = np.unique(places, return_inverse=True)
    around = (slice(None),) * first
    chosen = (*around, *np.unravel_index(named, target.shape[first:first + count]))
    sums = np.ascontiguousarray(target[chosen])
    add_one_by_one(sums, (*around, again.reshape(places.shape)), values)
    return assign(target, chosen, sums)


cdef int add_one_by_one(object target, object index, object values) except -1:
    """Any index: which places it names is read off an array of the numbers of the elements."""
    places = np.asarray(np.arange(target.size).reshape(target.shape)[index])
    sums = np.ascontiguousarray(target).reshape(-1)
    add_at_places(sums, places.reshape(-1), expand_of(values, places.shape).reshape(-1))
    if not target.flags.c_contiguous:
        target[...] = sums.reshape(target.shape)
    return 0


cdef object rows_of(object target, tuple index):
    """An index of whole dimensions, then integer arrays side by side, then whole dimensions again, as rows.

    Gives the first axis of the arrays, how many they are, and the flat positions they name among those axes, in their
    common size; None for any other index.
    """
    cdef int first = 0
    cdef int count = 0
    cdef int rest
    if is_one_array_of_integers(index) and cnp.PyArray_NDIM(target):
        return 0, 1, wrapped(index[0], cnp.PyArray_DIM(target, 0), 0)
    while first < len(index) and is_whole(index[first]):
        first += 1
    while first + count < len(index) and isinstance(index[first + count], cnp.ndarray):
        if not cnp.PyTypeNum_ISINTEGER(cnp.PyArray_TYPE(index[first + count])):
            return None
        count += 1
    rest = 0
    for part in index[first + count:]:
        if part is not Ellipsis:
            if not is_whole(part):
                return None
            rest += 1
    if count == 0 or first + count + rest > cnp.PyArray_NDIM(target):
        return None
    return first, count, flat_places(target, first, index[first:first + count])


cdef object flat_places(object target, int first, tuple arrays):
    places = None
    for array in arrays:
        array = wrapped(array, cnp.PyArray_DIM(target, first), first)
        places = array if places is None else int64_index(added(places, cnp.PyArray_DIM(target, first), array))
        first += 1
    return places


cdef object added(object places, npy_intp size, object array):
    """Positions along one more axis."""
    cdef const cnp.npy_int64 *before = <const cnp.npy_int64 *>cnp.PyArray_DATA(places)
    cdef const cnp.npy_int64 *along = <const cnp.npy_int64 *>cnp.PyArray_DATA(array)
    cdef cnp.npy_int64 *found
    cdef npy_intp i
    if cnp.PyArray_SAMESHAPE(places, array) and not is_meta(<PyObject *>places) and not is_meta(<PyObject *>array):
        result = fresh_of_sizes(places, cnp.NPY_INT64, cnp.PyArray_NDIM(places), cnp.PyArray_DIMS(places))
        found = <cnp.npy_int64 *>cnp.PyArray_DATA(result)
        for i in range(cnp.PyArray_SIZE(places)):
            found[i] = before[i] * size + along[i]
        return result
    try:
        return np.asarray(places * size + array)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            f"{list(places.shape)}, {list(array.shape)}"
        ) from None


cdef bint is_whole(object part) except -1:
    return type(part) is slice and (<slice>part).start is None and (<slice>part).stop is None and (<slice>part).step is None


cdef object wrapped(object index, npy_intp size, int axis):
    """Indices checked and counted from the start."""
    cdef npy_intp wrong
    index = int64_index(index)
    if is_within(index, 0, size, &wrong):
        return index
    if is_within(index, -size, size, &wrong):
        return wrapped_index(index, size)
    raise IndexError(f"index {wrong} is out of bounds for dimension {axis} with size {size}")


cdef object only_masks(object index):
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, cnp.ndarray) and part.dtype.kind != "b":
            return False
    return True


# ---- one index per element: gather and scatter

cdef object checked_index(str op, object a, int axis, object index):
    """An index with as many dimensions as the tensor, none longer except along the axis, as loops want it."""
    index = sized_index(op, a, axis, index)
    check_within(op, a, axis, index)
    return index


cdef object sized_index(str op, object a, int axis, object index):
    """The same for a loop that checks each index where it reads it, and whose failure `check_within` explains."""
    if cnp.PyArray_SIZE(index) == 0:
        return int64_index(index)       # of any dtype: it names nothing
    check_index_dtype(op, index)
    index = int64_index(index)
    check_index_size(op, a, axis, index)
    return index


cdef int check_within(str op, object a, int axis, object index) except -1:
    cdef npy_intp size = cnp.PyArray_DIM(a, axis) if cnp.PyArray_NDIM(a) else 1
    cdef npy_intp wrong
    if cnp.PyArray_SIZE(index) and not is_within(index, 0, size, &wrong):
        error = IndexError if op == "index_reduce" else RuntimeError    # as in PyTorch
        raise error(f"{op}(): index {wrong} is out of bounds for dimension {axis} with size {size}")
    return 0


cdef int check_index_dtype(str op, object index) except -1:
    if index.dtype != np.int64 and index.dtype != np.int32:
        raise RuntimeError(f"{op}(): expected dtype int32 or int64 for index, but got {index.dtype}")
    return 0


cdef int check_index_size(str op, object a, int axis, object index) except -1:
    cdef int i
    if max(cnp.PyArray_NDIM(index), 1) != max(cnp.PyArray_NDIM(a), 1):
        raise RuntimeError(
            f"{op}(): index must have the same number of dimensions as the input, but sizes are {list(index.shape)} "
            f"and {list(a.shape)}"
        )
    for i in range(min(cnp.PyArray_NDIM(index), cnp.PyArray_NDIM(a))):
        if i != axis and cnp.PyArray_DIM(index, i) > cnp.PyArray_DIM(a, i):
            raise RuntimeError(
                f"{op}(): index of size {list(index.shape)} is larger in dimension {i} than the input of size "
                f"{list(a.shape)}"
            )
    return 0


cdef int check_src(str op, object index, object src) except -1:
    cdef int i
    cdef bint covers = cnp.PyArray_NDIM(src) == cnp.PyArray_NDIM(index)
    if cnp.PyArray_SIZE(index) == 0:    # which names nothing, whatever its shape
        return 0
    if cnp.PyArray_NDIM(index) == 0 and cnp.PyArray_NDIM(src) == 1:     # one index is as good as a vector of one
        covers = cnp.PyArray_SIZE(src) > 0
    if cnp.PyArray_NDIM(index) == 1 and cnp.PyArray_NDIM(src) == 0:     # and the other way round
        covers = cnp.PyArray_SIZE(index) == 1
    for i in range(cnp.PyArray_NDIM(index) if covers and cnp.PyArray_NDIM(src) else 0):
        covers = covers and cnp.PyArray_DIM(index, i) <= cnp.PyArray_DIM(src, i)
    if not covers:
        raise RuntimeError(
            f"{op}(): src of size {list(src.shape)} does not cover the index of size {list(index.shape)}"
        )
    return 0


cpdef object gather_of(object a, Py_ssize_t dim, object index, bint sparse_grad=False):
    cdef int axis = wrap_dim(dim, a.ndim)
    index = sized_index("gather", a, axis, index)
    try:
        return gather_places(a, axis, index)
    except IndexError:
        check_within("gather", a, axis, index)
        raise


cpdef object scatter_of(object a, Py_ssize_t dim, object index, object src):
    """Copy of `a` with elements of `src` (or one number) at the places the index names."""
    axis, index, src = checked_sources("scatter", a, dim, index, src)
    if is_meta(<PyObject *>a):
        return readable_copy(a)
    result = take(clone_by_rows(<PyObject *>a))
    scatter_places(result, axis, index, src)
    return result


cpdef int scatter_into(object a, Py_ssize_t dim, object index, object src) except -1:
    axis, index, src = checked_sources("scatter", a, dim, apart_from(a, index), apart_from(a, src))
    return scatter_places(a, axis, index, src)


cdef tuple checked_sources(str op, object a, Py_ssize_t dim, object index, object src):
    """The axis, the index as loops want it, and elements of the dtype of `a`."""
    cdef int axis = wrap_dim(dim, a.ndim)
    index = checked_index(op, a, axis, index)
    if isinstance(src, cnp.ndarray) and index.size:  # a number fits everywhere, a tensor of one does not
        check_src(op, index, src)
    return axis, index, writable(op, src, a.dtype)


cpdef object scatter_reduced_of(object a, Py_ssize_t dim, object index, object src, str reduce):
    """Copy of `a` whose elements at the places the index names are increased or multiplied, one after the other."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"scatter(): reduce argument must be either add or multiply, got {reduce!r}")
    return reduced_at(a, dim, index, src, reduce, "scatter")


cpdef int scatter_reduced_into(object a, Py_ssize_t dim, object index, object src, str reduce) except -1:
    if reduce not in ("add", "multiply") or not is_addable(a):
        a[...] = scatter_reduced_of(a, dim, index, src, reduce)
        return 0
    axis, index, src = checked_reduced("scatter", a, dim, apart_from(a, index), apart_from(a, src))
    return reduce_places(a, axis, index, src, REDUCTIONS[reduce][0])


cpdef object grouped_of(object a, Py_ssize_t dim, object index, object src, str reduce, str op):
    """Copy of `a` whose elements at the places the index names are reduced together with those of `src`."""
    return added_at(a, dim, index, src, op) if reduce == "sum" else reduced_at(a, dim, index, src, reduce, op)


cdef dict REDUCTIONS = {
    "add": (REDUCED_SUM, np.add),
    "multiply": (REDUCED_PROD, np.multiply),
    "prod": (REDUCED_PROD, np.multiply),
    "amax": (REDUCED_AMAX, np.maximum),
    "amin": (REDUCED_AMIN, np.minimum),
}


cdef object reduced_at(object a, Py_ssize_t dim, object index, object src, str reduce, str op):
    if reduce not in REDUCTIONS:
        raise RuntimeError(f"{op}(): reduce must be one of {', '.join(REDUCTIONS)}, got {reduce!r}")
    how, ufunc = REDUCTIONS[reduce]
    vector = index_of_slices(a, wrap_dim(dim, a.ndim), index, src)
    if vector is not None:
        result = take(clone_by_rows(<PyObject *>a))
        reduce_slices(result, wrap_dim(dim, a.ndim), vector, src, how)
        return result
    axis, index, src = checked_reduced(op, a, dim, index, src)
    if is_meta(<PyObject *>a):
        return readable_copy(a)
    if can_reduce_groups(a, reduce):
        result = take(clone_by_rows(<PyObject *>a))
        reduce_places(result, axis, index, src, how)
        return result
    if a.dtype.kind in "iu" and a.dtype != np.uint64:       # whose order int64 does not have
        wide = a.astype(np.int64, order="C")
        reduce_places(wide, axis, index, src.astype(np.int64), how)
        return wide.astype(a.dtype)
    return reduced_by_ufunc(take(clone_by_rows(<PyObject *>a)), axis, index, src, ufunc)


cdef object index_of_slices(object a, int axis, object index, object src):
    """The vector behind an index that repeats it for all elements of a slice, within range; None of any other."""
    cdef int i
    cdef npy_intp wrong
    if not a.ndim or cnp.PyArray_TYPE(a) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_INT64):
        return None
    if not isinstance(src, cnp.ndarray) or src.dtype != a.dtype or src.shape != index.shape or index.ndim != a.ndim:
        return None
    for i in range(a.ndim):
        if i != axis and (cnp.PyArray_STRIDE(index, i) or cnp.PyArray_DIM(index, i) != cnp.PyArray_DIM(a, i)):
            return None
    if cnp.PyArray_SIZE(index) == 0 or is_meta(<PyObject *>a):
        return None
    if cnp.PyArray_TYPE(index) not in (cnp.NPY_INT32, cnp.NPY_INT64):
        return None
    vector = int64_index(index[(0,) * axis + (slice(None),) + (0,) * (a.ndim - axis - 1)])
    return vector if is_within(vector, 0, cnp.PyArray_DIM(a, axis), &wrong) else None


cdef int reduce_slices(object a, int axis, object vector, object src, Reduction how) except -1:
    """Slices of `a`, which lies in order, combined with those of `src`."""
    return add_rows(a, axis, 1, vector, src) if how == REDUCED_SUM else reduce_rows(a, axis, vector, src, how)


cdef tuple checked_reduced(str op, object a, Py_ssize_t dim, object index, object src):
    if isinstance(src, cnp.ndarray) and src.dtype != a.dtype:
        checked_index(op, a, wrap_dim(dim, a.ndim), index)      # whose errors come first
        raise RuntimeError(f"{op}(): Expected self.dtype ({a.dtype}) to be equal to src.dtype ({src.dtype})")
    return checked_sources(op, a, dim, index, src)


cdef object reduced_by_ufunc(object result, int axis, object index, object src, object ufunc):
    elements = result if result.ndim else result.reshape(1)
    index = index if index.ndim else index.reshape(1)
    places = list(np.indices(index.shape, sparse=True))
    places[axis] = index
    values = src[tuple([slice(n) for n in index.shape])] if src.ndim else src
    with np.errstate(all="ignore"):
        ufunc.at(elements, tuple(places), values)
    return result


cdef bint can_reduce_groups(object a, str reduce) except -1:
    """Is there a loop that reduces elements of `a` where they lie?"""
    return is_addable(a) and not (a.dtype.kind == "c" and reduce in ("amax", "amin"))


cdef int reduce_groups(
    object a, Py_ssize_t dim, object index, object src, str reduce, bint include_self, str op
) except -1:
    """Elements of `a` at the places that the index names, reduced together with those of `src`, or to these alone."""
    index, src = apart_from(a, index), apart_from(a, src)
    how = REDUCED_SUM if reduce in ("sum", "mean") else REDUCTIONS[reduce][0]
    if include_self and reduce != "mean" and cnp.PyArray_IS_C_CONTIGUOUS(a):
        vector = index_of_slices(a, wrap_dim(dim, a.ndim), index, src)
        if vector is not None:
            return reduce_slices(a, wrap_dim(dim, a.ndim), vector, src, how)
    if reduce in ("sum", "mean"):
        axis, index, src = checked_added(op, a, dim, index, src)
    else:
        axis, index, src = checked_reduced(op, a, dim, index, src)
    if not include_self:
        scatter_places(a, axis, index, np.array(neutral(reduce, a.dtype), a.dtype))
    reduce_places(a, axis, index, src, how)
    return divide_by_counts(a, axis, index, include_self) if reduce == "mean" and index.size else 0


cdef object neutral(str reduce, object dtype):
    """The number that changes nothing when it is reduced with others: floating, complex or int64."""
    if reduce in ("sum", "mean", "prod"):
        return reduce == "prod"
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind == "i" else (-np.inf, np.inf)
    return low if reduce == "amax" else high


cdef tuple products_of_groups(object a, Py_ssize_t dim, object index, object src):
    """`products_of_others` of arrays that `grouped_of` has taken."""
    axis, index, src = checked_added("grouped", a, dim, index, src)
    return products_of_others(a, axis, index, src)


cdef int divide_by_counts(object a, int axis, object index, bint include_self) except -1:
    """Sums divided by how many elements they are of: each named place once, however often the index names it."""
    counts = np.zeros(a.shape, np.int64)        # of which only the pages that are named get memory
    reduce_places(counts, axis, index, np.array(1), REDUCED_SUM)
    of_named = gather_places(counts, axis, index) + include_self
    totals = gather_places(a, axis, index)
    means = totals // of_named if a.dtype.kind == "i" else totals / of_named.astype(a.dtype)
    return scatter_places(a, axis, index, np.asarray(means))


cpdef object scatter_add_of(object a, Py_ssize_t dim, object index, object src):
    """Copy of `a` to which elements of `src` are added at the places the index names."""
    return added_at(a, dim, index, src, "scatter_add")


cpdef int scatter_add_into(object a, Py_ssize_t dim, object index, object src) except -1:
    if not is_addable(a):
        a[...] = scatter_add_of(a, dim, index, src)
        return 0
    axis, index, src = checked_added("scatter_add", a, dim, apart_from(a, index), apart_from(a, src))
    return reduce_places(a, axis, index, src, REDUCED_SUM)


cdef tuple checked_added(str op, object a, Py_ssize_t dim, object index, object src):
    cdef int axis = wrap_dim(dim, a.ndim)
    index = checked_index(op, a, axis, index)
    check_src(op, index, src)
    return axis, index, writable(op, src, a.dtype)


cdef object added_at(object a, Py_ssize_t dim, object index, object src, str op):
    vector = index_of_slices(a, wrap_dim(dim, a.ndim), index, src)
    if vector is not None:
        result = take(clone_by_rows(<PyObject *>a))
        add_rows(result, wrap_dim(dim, a.ndim), 1, vector, src)
        return result
    axis, index, src = checked_added(op, a, dim, index, src)
    if is_meta(<PyObject *>a):
        return readable_copy(a)
    if is_addable(a):
        result = take(clone_by_rows(<PyObject *>a))
        reduce_places(result, axis, index, src, REDUCED_SUM)
        return result
    wide = a.astype(sum_dtype(a), order="C")
    reduce_places(wide, axis, index, src.astype(wide.dtype), REDUCED_SUM)
    return wide.astype(a.dtype)


# ---- one index per slice

cdef object checked_vector(str op, object a, int axis, object index):
    """A vector of indices along an axis; one without dimensions counts as a vector of one."""
    cdef npy_intp size = cnp.PyArray_DIM(a, axis) if cnp.PyArray_NDIM(a) else 1
    cdef npy_intp wrong
    check_index_dtype(op, index)
    if cnp.PyArray_NDIM(index) > 1:
        raise IndexError(f"{op}(): index is supposed to be a vector, but has size {list(index.shape)}")
    index = int64_index(index)
    if not is_within(index, 0, size, &wrong):
        # As in PyTorch.
        error = IndexError if op == "index_select" or cnp.PyArray_NDIM(a) < 2 else RuntimeError
        raise error(f"{op}(): index {wrong} is out of range in dimension {axis} of size {size}")
    return index if cnp.PyArray_NDIM(index) == 1 else index.reshape(1)


cpdef object index_select_of(object a, Py_ssize_t dim, object index):
    cdef int axis = wrap_dim(dim, a.ndim)
    vector = checked_vector("index_select", a, axis, index)
    if a.ndim == 0:
        if vector.size != 1:
            raise IndexError("index_select(): the index of a tensor without dimensions has one element")
        return a.copy()
    return take_rows(a, axis, 1, vector)


cpdef object index_add_of(object a, Py_ssize_t dim, object index, object source, object alpha):
    axis, vector, values = checked_added_slices(a, dim, index, source, alpha)
    if is_meta(<PyObject *>a):
        return readable_copy(a)
    if a.ndim == 0:
        return np.asarray(a + values.sum(dtype=a.dtype))
    if is_addable(a):
        result = take(clone_by_rows(<PyObject *>a))
        add_rows(result, axis, 1, vector, values)
        return result
    wide = a.astype(sum_dtype(a), order="C")
    add_rows(wide, axis, 1, vector, values.astype(wide.dtype))
    return wide.astype(a.dtype)


cpdef int index_add_into(object a, Py_ssize_t dim, object index, object source, object alpha) except -1:
    if a.ndim == 0 or not is_addable(a) or not cnp.PyArray_IS_C_CONTIGUOUS(a):
        a[...] = index_add_of(a, dim, index, source, alpha)
        return 0
    axis, vector, values = checked_added_slices(a, dim, apart_from(a, index), apart_from(a, source), alpha)
    return add_rows(a, axis, 1, vector, values)


cdef tuple checked_added_slices(object a, Py_ssize_t dim, object index, object source, object alpha):
    cdef int axis = wrap_dim(dim, a.ndim)
    vector = checked_vector("index_add", a, axis, index)
    if source.ndim == 0 and a.ndim < 2 and vector.size != 1:
        raise IndexError(
            f"index_add(): Dimension specified as {dim} but the source has no dimensions; one index goes with it, not "
            f"{vector.size}"
        )
    expected = (*a.shape[:axis], vector.size, *a.shape[axis + 1:]) if a.ndim else ()
    if source.shape != expected:
        raise RuntimeError(
            f"index_add(): source has size {list(source.shape)}, but the input of size {list(a.shape)} and "
            f"{vector.size} indices along dimension {axis} want {list(expected)}"
        )
    values = writable("index_add", source, a.dtype)
    if alpha != 1 and not is_meta(<PyObject *>a) and (values.size or a.ndim < 2):      # as in PyTorch
        values = values * element_of(alpha, a.dtype)
    return axis, vector, values


# ---- masks

cdef int check_mask(str op, object a, object mask) except -1:
    if cnp.PyArray_TYPE(<cnp.ndarray>mask) == cnp.NPY_BOOL and cnp.PyArray_SAMESHAPE(<cnp.ndarray>a, <cnp.ndarray>mask):
        return 0
    if mask.dtype.kind != "b":
        raise RuntimeError(f"{op}() only supports bool masks, but got a mask of dtype {mask.dtype}")
    if broadcast_sizes(a, mask) is None:
        raise RuntimeError(
            f"{op}(): sizes {list(a.shape)} of the input and {list(mask.shape)} of the mask do not broadcast"
        )
    return 0


cpdef object masked_fill_of(object a, object mask, object value):
    check_mask("masked_fill", a, mask)
    value = filling("masked_fill", value, a.dtype)
    return take(where(<PyObject *>mask, <PyObject *>value, <PyObject *>a))


cpdef int masked_fill_into(object a, object mask, object value) except -1:
    check_mask("masked_fill", a, mask)
    mask, value = apart_from(a, mask), apart_from(a, filling("masked_fill", value, a.dtype))
    cdef bint is_same = cnp.PyArray_SAMESHAPE(<cnp.ndarray>a, <cnp.ndarray>mask)
    if not is_same and broadcast_sizes(a, mask) != a.shape:
        raise RuntimeError(
            f"masked_fill_: output with shape {list(a.shape)} doesn't match the broadcast shape "
            f"{list(broadcast_sizes(a, mask))}; an in-place operation cannot change the shape of its tensor"
        )
    if not fill_under(a, mask, value):
        filled = take(where(<PyObject *>mask, <PyObject *>value, <PyObject *>a))
        copy_into(<PyObject *>a, <PyObject *>filled)
    return 0


cdef object filling(str op, object value, object dtype):
    """A number, which may come as a tensor, as an element; it has to fit."""
    if not isinstance(value, cnp.ndarray):
        return take(full_array((<cnp.dtype>dtype).type_num, 0, NULL, value))
    if value.ndim:
        raise RuntimeError(
            f"{op}(): value must be a number or a 0-dimensional tensor, but has size {list(value.shape)}"
        )
    return value if is_meta(<PyObject *>value) or value.dtype == dtype else element_of(value.item(), dtype)


cdef bint masked_scatter(object a, object mask, object source) except -1:
    """Elements of `source`, one after the other, where the mask is true. False of what does not fit."""
    cdef bint is_same = cnp.PyArray_SAMESHAPE(<cnp.ndarray>a, <cnp.ndarray>mask)
    if cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or cnp.PyArray_TYPE(source) != cnp.PyArray_TYPE(a):
        return False
    if not is_same and not expands_to(mask.shape, a.shape):
        return False
    mask, source = apart_from(a, mask), apart_from(a, source)
    if not is_same:
        mask = expand_of(mask, a.shape)
        mask = take(contiguous(<PyObject *>mask))
    cdef npy_intp count = PyArray_CountNonzero(<cnp.ndarray>mask)
    if count > cnp.PyArray_SIZE(source):
        return False
    if not write_under(a, mask, source, count):
        assign(a, mask, source.reshape(-1)[:count])
    return True


def one_hot_rows(object classes, object count):
    """A one at the place of each class, among `count` places or, of -1, as many as there are; None where that is not plain.

    That is of what has no data or no elements, and of numbers that are no classes, for which the caller has errors.
    """
    cdef cnp.ndarray array = classes
    cdef npy_intp[MAX_DIMS] sizes
    cdef npy_intp size = cnp.PyArray_SIZE(array), i, width = -1
    cdef int ndim = cnp.PyArray_NDIM(array)
    if type(count) is not int or cnp.PyArray_TYPE(array) != cnp.NPY_INT64 or is_meta(<PyObject *>array) or size == 0:
        return None
    if not (cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISBEHAVED_RO(array)) or ndim == MAX_DIMS:
        return None
    cdef const cnp.npy_int64 *numbers = <const cnp.npy_int64 *>cnp.PyArray_DATA(array)
    cdef cnp.npy_int64 least = 0, greatest = -1
    for i in range(size):
        least, greatest = min(least, numbers[i]), max(greatest, numbers[i])
    width = greatest + 1 if count == -1 else count
    if least < 0 or greatest >= width:
        return None
    if ndim:
        memcpy(sizes, cnp.PyArray_DIMS(array), ndim * sizeof(npy_intp))
    sizes[ndim] = width
    found = take(full_array(cnp.NPY_INT64, ndim + 1, sizes, 0))
    cdef cnp.npy_int64 *rows = <cnp.npy_int64 *>cnp.PyArray_DATA(<cnp.ndarray>found)
    for i in range(size):
        rows[i * width + numbers[i]] = 1
    return found


cpdef object nonzero_rows_of(object a):
    """The places of the elements that are not zero, as rows."""
    cdef int ndim = cnp.PyArray_NDIM(<cnp.ndarray>a)
    cdef npy_intp sizes[2]
    if ndim == 0 or is_meta(<PyObject *>a):
        return np.argwhere(a)
    if cnp.PyArray_TYPE(a) != cnp.NPY_BOOL:
        a = take(binary_scalar(NOT_EQUAL, <PyObject *>a, 0, False))
    if ndim == 1 and cnp.PyArray_SIZE(a) >= SMALL:
        return cnp.PyArray_Nonzero(<cnp.ndarray>a)[0].reshape(-1, 1)
    a = take(contiguous(<PyObject *>a))
    sizes[0], sizes[1] = PyArray_CountNonzero(<cnp.ndarray>a), ndim
    found = fresh_of_sizes(a, cnp.NPY_INT64, 2, sizes)
    cdef const char *mask = cnp.PyArray_BYTES(a)
    cdef cnp.npy_int64 *row = <cnp.npy_int64 *>cnp.PyArray_DATA(found)
    cdef const npy_intp *dims = cnp.PyArray_DIMS(a)
    cdef npy_intp written
    if cnp.PyArray_SIZE(a) < SMALL:
        written = write_places(mask, ndim, dims, row, sizes[0])
    else:
        with nogil:
            written = write_places(mask, ndim, dims, row, sizes[0])
    if written != sizes[0]:
        raise RuntimeError("nonzero(): the input was changed by another thread while its elements were counted")
    return found


cdef npy_intp write_places(
    const char *mask, int ndim, const npy_intp *dims, cnp.npy_int64 *row, npy_intp most
) noexcept nogil:
    """The indices of the first `most` true elements of a mask, as rows; how many were written."""
    cdef npy_intp at[MAX_DIMS]
    cdef npy_intp length = dims[ndim - 1], count = 0, j
    cdef int dim
    for dim in range(ndim):
        at[dim] = 0
        if dims[dim] == 0:
            return 0
    while True:
        for j in range(length):         # no branch for each, but a row that the next one is written over
            if count == most:
                return count
            for dim in range(ndim - 1):
                row[dim] = at[dim]
            row[ndim - 1] = j
            row += ndim * (mask[j] != 0)
            count += mask[j] != 0
        mask += length
        dim = ndim - 2
        while dim >= 0 and at[dim] == dims[dim] - 1:
            at[dim] = 0
            dim -= 1
        if dim < 0:
            return count
        at[dim] += 1


cpdef object masked_select_of(object a, object mask):
    check_mask("masked_select", a, mask)
    if not cnp.PyArray_SAMESHAPE(<cnp.ndarray>a, <cnp.ndarray>mask):
        a, mask = [take(contiguous(<PyObject *>each)) for each in np.broadcast_arrays(a, mask)]
    found = elements_under(a, mask)
    return a[mask] if found is None else found
