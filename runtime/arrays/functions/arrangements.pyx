"""Diagonals, windows, triangles and rotations of arrays."""

from cpython.ref cimport PyObject
from libc.string cimport memset
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport clone_by_rows, copy_into, empty_array, full_array, is_meta
from gradsmith.runtime.arrays.functions.normalize cimport read_axes, wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_beside, fresh_of_sizes, fresh_zeros, take
from gradsmith.runtime.arrays.functions.pointwise cimport clone_of
from gradsmith.runtime.arrays.functions.shapes cimport Layout, push, read_layout, require_array, view_at

import numpy as np

cnp.import_array()

cdef extern from "runtime/arrays/kernels/short_copy.h":
    void copy_few "gs_copy_few"(char *to, const char *source, npy_intp n) noexcept nogil

cdef enum:
    FEW = 8192          # elements that go around each dimension in turn faster than all at once


# ---- diagonals

cpdef object diagonal_of(cnp.ndarray a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2):
    """View of the elements at equal places of two dimensions: one step along it is a step along both."""
    cdef Layout whole, layout
    cdef int one, other, i
    cdef npy_intp rows, columns, start
    require_array(a)
    one, other = wrap_dim(dim1, cnp.PyArray_NDIM(a)), wrap_dim(dim2, cnp.PyArray_NDIM(a))
    if one == other:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    read_layout(a, &whole)
    layout.ndim = 0
    for i in range(whole.ndim):
        if i != one and i != other:
            push(&layout, whole.sizes[i], whole.strides[i])
    rows = whole.sizes[one] + min(offset, 0)
    columns = whole.sizes[other] - max(offset, 0)
    push(&layout, max(min(rows, columns), 0), whole.strides[one] + whole.strides[other])
    start = offset * whole.strides[other] if offset >= 0 else -offset * whole.strides[one]
    return view_at(a, &layout, start if rows > 0 and columns > 0 else 0)


cpdef object diagonal_scatter_of(object a, object src, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2):
    result = own_copy(a)
    place = diagonal_of(result, offset, dim1, dim2)
    if place.shape != src.shape:
        raise RuntimeError(
            f"diagonal_scatter(): expected src to have the size of the diagonal, {list(place.shape)}, but got "
            f"{list(src.shape)}"
        )
    if not is_meta(<PyObject *>a):
        place[...] = src
    return result


cpdef object embedded_diagonals_of(object a, Py_ssize_t offset, Py_ssize_t one, Py_ssize_t other):
    """Zeros but for a diagonal; the dimensions are those of the result, and 0 is the last one."""
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim = cnp.PyArray_NDIM(a), dim, taken = 0
    cdef Py_ssize_t dim1 = ndim - one, dim2 = ndim - other
    if not (0 < ndim < MAX_DIMS and 0 <= dim1 <= ndim and 0 <= dim2 <= ndim and dim1 != dim2):
        raise RuntimeError(
            f"embedded_diagonals(): there are no two dimensions {one} and {other}, from the last on, of a tensor with one "
            f"dimension more than {ndim}; it may have {MAX_DIMS}"
        )
    for dim in range(ndim + 1):
        if dim == dim1 or dim == dim2:
            sizes[dim] = cnp.PyArray_DIM(a, ndim - 1) + abs(offset)
        else:
            sizes[dim] = cnp.PyArray_DIM(a, taken)
            taken += 1
    if is_meta(<PyObject *>a):
        return fresh_of_sizes(a, cnp.PyArray_TYPE(a), ndim + 1, sizes)
    result = take(full_array(cnp.PyArray_TYPE(a), ndim + 1, sizes, 0))
    place = diagonal_of(result, offset, dim1, dim2)
    copy_into(<PyObject *>place, <PyObject *>a)
    return result


cdef object own_copy(object a):
    if is_meta(<PyObject *>a):
        return fresh_beside(a, cnp.PyArray_TYPE(a), a.shape)
    return clone_of(a)


# ---- windows

cpdef object unfold_of(cnp.ndarray a, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step):
    """View of windows along a dimension: one step along it is `step` of the array's, a last dimension runs inside."""
    cdef Layout layout
    cdef int axis
    cdef npy_intp length, stride
    require_array(a)
    axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    read_layout(a, &layout)
    length = layout.sizes[axis] if layout.ndim else 1
    if not 0 <= size <= length:
        raise RuntimeError(f"unfold(): maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"unfold(): step is {step} but must be > 0")
    if layout.ndim == 0:
        push(&layout, size, cnp.PyArray_ITEMSIZE(a))
        return view_at(a, &layout, 0)
    stride = layout.strides[axis]
    layout.sizes[axis] = (length - size) // step + 1
    layout.strides[axis] = stride * step
    push(&layout, size, stride)
    return view_at(a, &layout, 0)


cpdef object unfold_backward_of(object a, object shape, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step):
    """Every place of the windows added up where it lies; one place of all windows after the other."""
    cdef Py_ssize_t place
    cdef int axis = wrap_dim(dim, len(shape))
    if is_meta(<PyObject *>a):
        return fresh_beside(a, cnp.PyArray_TYPE(a), tuple(shape))
    result = fresh_zeros(cnp.PyArray_TYPE(a), tuple(shape))
    if not shape:
        return np.asarray(a.sum(dtype=a.dtype))
    target = np.moveaxis(result, axis, -1)
    windows = np.moveaxis(a, axis, -2)
    for place in range(size):
        end = place + step * (windows.shape[windows.ndim - 2] - 1) + 1
        target[..., place:end:step] += windows[..., place]
    return result


# ---- rotations

cpdef object roll_along_of(object a, object shifts, object dims):
    if len(shifts) == 0:
        raise RuntimeError("roll(): `shifts` required")
    if len(shifts) != len(dims):
        raise RuntimeError(
            f"roll(): shifts and dimensions must align. shifts: {len(shifts)}, dims: {len(dims)}"
        )
    for dim in dims:
        wrap_dim(dim, cnp.PyArray_NDIM(a))
    if cnp.PyArray_NDIM(a) == 0:
        raise IndexError(f"roll(): dim {dims[0]} was given, but the tensor has no dimensions")
    if is_meta(<PyObject *>a):
        return own_copy(a)
    if not cnp.PyArray_IS_C_CONTIGUOUS(a) or not cnp.PyArray_SIZE(a) or len(dims) > 1 and cnp.PyArray_SIZE(a) > FEW:
        return np.roll(a, tuple(shifts), tuple(dims))
    for shift, dim in zip(shifts, dims):
        a = rolled(a, shift, wrap_dim(dim, cnp.PyArray_NDIM(a)))
    return a


cdef object rolled(cnp.ndarray a, object shift, int axis):
    """A copy of elements that lie row by row, which is one of two blocks for each index before the axis."""
    cdef npy_intp length = cnp.PyArray_DIM(a, axis), inner = cnp.PyArray_ITEMSIZE(a), whole, row
    cdef int dim
    for dim in range(axis + 1, cnp.PyArray_NDIM(a)):
        inner *= cnp.PyArray_DIM(a, dim)
    cdef npy_intp shifted = <npy_intp>(shift % length) * inner
    cdef cnp.ndarray found = take(empty_array(cnp.PyArray_TYPE(a), cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a)))
    cdef const char *elements = cnp.PyArray_BYTES(a)
    cdef char *out = cnp.PyArray_BYTES(found)
    whole = length * inner
    for row in range(cnp.PyArray_NBYTES(a) // whole):
        copy_few(out + shifted, elements, whole - shifted)
        copy_few(out, elements + whole - shifted, shifted)
        elements += whole
        out += whole
    return found


# ---- triangles

cpdef object tril_of(object a, Py_ssize_t diagonal):
    check_matrices("tril", a)
    if is_meta(<PyObject *>a):
        return own_copy(a)
    return triangle(a, diagonal, False)


cpdef int tril_into(object a, Py_ssize_t diagonal) except -1:
    return clear_triangle(a, diagonal, False)


cpdef object triu_of(object a, Py_ssize_t diagonal):
    check_matrices("triu", a)
    if is_meta(<PyObject *>a):
        return own_copy(a)
    return triangle(a, diagonal, True)


cpdef int triu_into(object a, Py_ssize_t diagonal) except -1:
    return clear_triangle(a, diagonal, True)


cdef object triangle(object a, Py_ssize_t diagonal, bint upper):
    """A copy with zeros on the other side of a diagonal."""
    found = take(clone_by_rows(<PyObject *>a))
    clear_triangle(found, diagonal, upper)
    return found


cdef int clear_triangle(object a, Py_ssize_t diagonal, bint upper) except -1:
    """Zeros on the other side of a diagonal, in place."""
    check_matrices("triu" if upper else "tril", a)
    if not cnp.PyArray_IS_C_CONTIGUOUS(a):
        a[...] = triangle(a, diagonal, upper)
        return 0
    cdef npy_intp rows = cnp.PyArray_DIM(a, cnp.PyArray_NDIM(a) - 2)
    cdef npy_intp columns = cnp.PyArray_DIM(a, cnp.PyArray_NDIM(a) - 1)
    cdef npy_intp size = cnp.PyArray_ITEMSIZE(a), first, last, i
    cdef char *row = cnp.PyArray_BYTES(a)
    diagonal = min(max(diagonal, -rows), columns)
    for i in range(cnp.PyArray_SIZE(a) // columns if cnp.PyArray_SIZE(a) else 0):
        first = 0 if upper else min(max(i % rows + diagonal + 1, 0), columns)
        last = min(max(i % rows + diagonal, 0), columns) if upper else columns
        memset(row + first * size, 0, (last - first) * size)
        row += columns * size
    return 0


cdef int check_matrices(str op, object a) except -1:
    if cnp.PyArray_NDIM(a) < 2:
        raise RuntimeError(f"{op}: input tensor must have at least 2 dimensions, but has {cnp.PyArray_NDIM(a)}")
    return 0


# ---- repeats

cpdef object repeat_interleave_of(object a, object repeats, object dim, object output_size):
    """Each slice as often as `repeats` says; one number is for all of them."""
    cdef int axis = 0 if dim is None else wrap_dim(dim, cnp.PyArray_NDIM(a))
    if dim is None or cnp.PyArray_NDIM(a) == 0:
        a = a.reshape(-1)
    if repeats.ndim > 1:
        raise RuntimeError(f"repeat_interleave(): repeats must be 0-dim or 1-dim tensor, not {repeats.ndim}-dim")
    if repeats.size not in (1, a.shape[axis]) and repeats.ndim:
        raise RuntimeError(
            "repeat_interleave(): repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.shape[0]} and input.size({axis}) = {a.shape[axis]}"
        )
    if is_meta(<PyObject *>repeats) and output_size is not None:
        return fresh_beside(a, cnp.PyArray_TYPE(a), (*a.shape[:axis], output_size, *a.shape[axis + 1:]))
    times = np.broadcast_to(repeats.reshape(-1), a.shape[axis]) if repeats.size == 1 else repeats
    return np.take(a, repeated_places_of(times, output_size), axis)


cpdef object repeated_places_of(object repeats, object output_size):
    """The number of each element, as often as the element says."""
    if is_meta(<PyObject *>repeats):
        raise NotImplementedError(
            "repeat_interleave(): the shape of the result depends on the values of repeats, and a tensor on the meta "
            "device has none"
        )
    if repeats.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"repeat_interleave(): repeats has to be an int64 or int32 tensor, but is {repeats.dtype}")
    if repeats.ndim != 1:
        raise RuntimeError(f"repeat_interleave(): repeats must be a vector, but has size {list(repeats.shape)}")
    if repeats.min(initial=0) < 0:
        raise RuntimeError(f"repeat_interleave(): repeats can not be negative, but one is {repeats.min()}")
    places = np.repeat(np.arange(repeats.size), repeats)
    if output_size is not None and output_size != places.size:
        raise RuntimeError(
            f"repeat_interleave(): output_size is {output_size}, but the result has {places.size} elements"
        )
    return places
