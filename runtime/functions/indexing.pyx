"""Elements by index: NumPy's indexing with PyTorch's rules, and its transposes.

Note [Integers come first]
NumPy treats an integer beside index arrays as one more index array: ``x[0, :, [1, 2]]`` has the arrays apart, and their
dimension moves to the front. PyTorch first takes what integers, slices and None select, then applies the arrays to
that. Both agree without integers; with them `split_index` separates the two steps.
"""

cimport numpy as cnp

from gradsmith.runtime.functions.normalize cimport wrap_dim

import numpy as np

from gradsmith.runtime.dtypes import can_cast
from gradsmith.runtime.geometry import scatter_values, slice_values

cnp.import_array()


# ---- integers, slices, None, Ellipsis

cpdef object basic_index_of(object a, object index):
    """A view, also where NumPy would give a number."""
    result = a[index]
    if isinstance(result, np.ndarray):
        return result
    return a[(*index, ...) if isinstance(index, tuple) else (index, ...)]


cpdef object basic_index_backward_of(object a, object shape, object index):
    result = np.zeros(shape, a.dtype)
    result[index] = a
    return result


# ---- index arrays and masks

cdef object is_plain(object part):
    return part is None or part is Ellipsis or isinstance(part, (int, slice)) and not isinstance(part, bool)


cdef tuple split_index(object index, int ndim):
    """What selects a view, and what then remains for the arrays. See Note [Integers come first]."""
    cdef list basic = []
    cdef list advanced = []
    cdef Py_ssize_t width
    parts = [part if is_plain(part) else np.asarray(part) for part in (index if isinstance(index, tuple) else (index,))]
    if not any([isinstance(part, int) for part in parts]):
        return None, tuple(parts)
    for part in expanded(parts, ndim):
        if isinstance(part, np.ndarray):
            width = part.ndim if part.dtype.kind == "b" else 1
            basic.extend([slice(None)] * width)
            advanced.append(part)
        else:
            basic.append(part)
            if not isinstance(part, int):
                advanced.append(slice(None))
    return (*basic, ...), tuple(advanced)


cdef list expanded(list parts, int ndim):
    """Ellipsis written out."""
    cdef Py_ssize_t used = 0
    for part in parts:
        if isinstance(part, np.ndarray):
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
    basic, advanced = split_index(index, a.ndim)
    return np.asarray((a if basic is None else a[basic])[advanced])


cpdef object index_backward_of(object a, object shape, object index):
    """Zeros of `shape`, to which the elements of `a` are added where the index takes them from."""
    result = np.zeros(shape, a.dtype)
    basic, advanced = split_index(index, result.ndim)
    add_at(result if basic is None else result[basic], advanced, a)
    return result


cpdef object index_put_of(object a, object index, object values, bint accumulate):
    """Copy of `a` with the values at the indexed places, or added there."""
    result = a.copy()
    basic, advanced = split_index(index, a.ndim)
    target = result if basic is None else result[basic]
    values = writable("index_put", values, a.dtype)
    check_values(target, advanced, values)
    if accumulate:
        add_at(target, advanced, values)
    else:
        target[advanced] = values
    return result


cdef object writable(str op, object values, object dtype):
    """Values in the dtype of what they are written to, which must be able to hold them."""
    if not isinstance(values, np.ndarray):
        values = np.asarray(values)
    if not can_cast(values.dtype, dtype):
        raise RuntimeError(f"{op}(): values of dtype {values.dtype} cannot be written to a {dtype} tensor")
    return values.astype(dtype, copy=False)


cdef int check_values(object target, object index, object values) except -1:
    """Values broadcast to the indexed places; asked before anything is written."""
    if values.ndim == 0:
        return 0
    places = np.broadcast_to(np.empty((), np.bool_), target.shape)[index].shape
    try:
        fits = np.broadcast_shapes(values.shape, places) == places
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"index_put(): values of size {list(values.shape)} cannot be broadcast to the indexed size {list(places)}"
        )
    return 0


cdef int add_at(object target, object index, object values) except -1:
    """target[index] += values, a repeated place as often as it comes.

    Masks name each place once. For the rest, numbering the elements and counting with weights is ten times faster
    than `ufunc.at`, and sums in double precision.
    """
    if only_masks(index):
        target[index] += values
        return 0
    if target.dtype.kind not in "fc":
        np.add.at(target, index, values)
        return 0
    numbers = np.arange(target.size).reshape(target.shape)[index]
    values = np.broadcast_to(values, numbers.shape)
    sums = weighted_counts(numbers.ravel(), values.ravel(), target.size)
    target += sums.reshape(target.shape).astype(target.dtype, copy=False)
    return 0


cdef object only_masks(object index):
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, np.ndarray) and part.dtype.kind != "b":
            return False
    return True


cdef object weighted_counts(object numbers, object weights, object size):
    if weights.dtype.kind == "c":
        return np.bincount(numbers, weights.real, size) + 1j * np.bincount(numbers, weights.imag, size)
    return np.bincount(numbers, weights, size)


# ---- one index per element: gather and scatter

cdef tuple places_of(str op, object shape, int axis, object index):
    """The elements of an array of this shape that `index` names along an axis, as a tuple of index arrays."""
    check_indices(op, index, shape[axis] if shape else 1, axis)
    grid = list(np.ogrid[tuple([slice(0, n) for n in index.shape])])
    if not grid:
        return ()
    grid[axis] = index
    return tuple(grid)


cdef int check_indices(str op, object index, object size, int axis) except -1:
    if index.size == 0:
        return 0
    low, high = index.min(), index.max()
    if low < 0 or high >= size:
        raise RuntimeError(
            f"{op}(): index {high if low >= 0 else low} is out of bounds for dimension {axis} with size {size}"
        )
    return 0


cdef int check_index(str op, object a, int axis, object index) except -1:
    """An index with as many dimensions as the tensor, none longer except along the axis."""
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"{op}(): expected an integer dtype for index, but got {index.dtype}")
    if index.size == 0:
        return 0
    if max(index.ndim, 1) != max(a.ndim, 1):
        raise RuntimeError(
            f"{op}(): index must have the same number of dimensions as the input, but sizes are {list(index.shape)} "
            f"and {list(a.shape)}"
        )
    for i, (n, limit) in enumerate(zip(index.shape, a.shape)):
        if i != axis and n > limit:
            raise RuntimeError(
                f"{op}(): index of size {list(index.shape)} is larger in dimension {i} than the input of size "
                f"{list(a.shape)}"
            )
    return 0


cdef int check_src(str op, object index, object src) except -1:
    if src.ndim != index.ndim or any([n > limit for n, limit in zip(index.shape, src.shape)]):
        raise RuntimeError(
            f"{op}(): src of size {list(src.shape)} does not cover the index of size {list(index.shape)}"
        )
    return 0


cpdef object gather_of(object a, Py_ssize_t dim, object index):
    cdef int axis = wrap_dim(dim, a.ndim)
    check_index("gather", a, axis, index)
    if index.size == 0:
        return np.empty(index.shape, a.dtype)
    places = places_of("gather", a.shape, axis, index)
    if a.ndim == 0:
        return np.full(index.shape, a)
    return np.asarray(a[places])


cpdef object scatter_of(object a, Py_ssize_t dim, object index, object src):
    """Copy of `a` with elements of `src` (or one number) at the places the index names."""
    cdef int axis = wrap_dim(dim, a.ndim)
    check_index("scatter", a, axis, index)
    result = a.copy()
    src = writable("scatter", src, a.dtype)
    if index.size == 0:
        return result
    if src.ndim:
        check_src("scatter", index, src)
        src = src[tuple([slice(n) for n in index.shape])]
    result[places_of("scatter", a.shape, axis, index)] = src.reshape(()) if a.ndim == 0 else src
    return result


cpdef object scatter_add_of(object a, Py_ssize_t dim, object index, object src):
    """Copy of `a` to which elements of `src` are added at the places the index names."""
    cdef int axis = wrap_dim(dim, a.ndim)
    check_index("scatter_add", a, axis, index)
    check_src("scatter_add", index, src)
    result = a.copy()
    if index.size == 0:
        return result
    values = writable("scatter_add", src, a.dtype)[tuple([slice(n) for n in index.shape])]
    places = places_of("scatter_add", a.shape, axis, index)
    if a.ndim == 0:
        return np.asarray(result + values.sum(dtype=a.dtype))
    add_at(result, places, values)
    return result


# ---- one index per slice

cdef object checked_vector(str op, object a, int axis, object index):
    """A vector of indices along an axis; one without dimensions counts as a vector of one."""
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"{op}(): expected an integer dtype for index, but got {index.dtype}")
    if index.ndim > 1:
        raise IndexError(f"{op}(): index is supposed to be a vector, but has size {list(index.shape)}")
    size = a.shape[axis] if a.ndim else 1
    if index.size and (index.min() < 0 or index.max() >= size):
        error = IndexError if op == "index_select" else RuntimeError    # as in PyTorch
        raise error(f"{op}(): index out of range in dimension {axis} of size {size}")
    return index.reshape(-1)


cpdef object index_select_of(object a, Py_ssize_t dim, object index):
    cdef int axis = wrap_dim(dim, a.ndim)
    vector = checked_vector("index_select", a, axis, index)
    if a.ndim == 0:
        if vector.size != 1:
            raise IndexError("index_select(): the index of a tensor without dimensions has one element")
        return a.copy()
    return np.take(a, vector, axis=axis)


cpdef object index_add_of(object a, Py_ssize_t dim, object index, object source, object alpha):
    cdef int axis = wrap_dim(dim, a.ndim)
    vector = checked_vector("index_add", a, axis, index)
    expected = (*a.shape[:axis], vector.size, *a.shape[axis + 1:]) if a.ndim else source.shape
    if source.shape != expected:
        raise RuntimeError(
            f"index_add(): source has size {list(source.shape)}, but the input of size {list(a.shape)} and "
            f"{vector.size} indices along dimension {axis} want {list(expected)}"
        )
    result = a.copy()
    values = writable("index_add", source * alpha if alpha != 1 else source, a.dtype)
    if a.ndim == 0:
        return np.asarray(result + values.sum(dtype=a.dtype))
    add_at(result, (*[slice(None)] * axis, vector), values)
    return result


# ---- masks

cdef int check_mask(str op, object a, object mask) except -1:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"{op}() only supports bool masks, but got a mask of dtype {mask.dtype}")
    try:
        np.broadcast_shapes(a.shape, mask.shape)
    except ValueError:
        raise RuntimeError(
            f"{op}(): sizes {list(a.shape)} of the input and {list(mask.shape)} of the mask do not broadcast"
        ) from None
    return 0


cpdef object masked_fill_of(object a, object mask, object value):
    check_mask("masked_fill", a, mask)
    value = np.asarray(value)
    if value.dtype.kind == "c" and a.dtype.kind != "c":
        raise RuntimeError(f"masked_fill(): a complex value cannot be written to a {a.dtype} tensor")
    if value.ndim:
        raise RuntimeError(
            f"masked_fill(): value must be a number or a 0-dimensional tensor, but has size {list(value.shape)}"
        )
    return np.where(mask, value.astype(a.dtype), a)


cpdef object masked_select_of(object a, object mask):
    check_mask("masked_select", a, mask)
    a, mask = np.broadcast_arrays(a, mask)
    return a[mask]


# ---- views as places in their base

cpdef object geometry_slice_of(object a, object geometry):
    return slice_values(a, geometry)


cpdef object geometry_scatter_of(object a, object geometry):
    return scatter_values(a, geometry)
