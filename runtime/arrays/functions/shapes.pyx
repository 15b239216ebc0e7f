"""Views: the same memory under other sizes and strides.

Everything here computes a `Layout` and makes an array over the old memory from it. NumPy's own methods do the same
after parsing arguments in general ways, which costs several times the view itself.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport copy_into, empty_array, is_meta, meta_array
from gradsmith.runtime.arrays.functions.normalize cimport is_reduced, read_axes, wrap_dim
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, take

import numpy as np

cnp.import_array()

cdef extern from *:
    const Py_ssize_t SSIZE_MAX "PY_SSIZE_T_MAX"

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Descr
    ctypedef struct PyArrayObject
    ctypedef struct PyTypeObject
    PyArray_Descr *PyArray_DESCR(PyArrayObject *)
    PyObject *PyArray_NewFromDescr(
        PyTypeObject *, PyArray_Descr *, int, npy_intp *, npy_intp *, void *, int, PyObject *) except NULL
    int PyArray_SetBaseObject(PyArrayObject *, PyObject *) except -1
    int PyArray_FLAGS(PyArrayObject *) noexcept
    void Py_INCREF_descr "Py_INCREF"(PyArray_Descr *)
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


def broadcast_shape(*shapes):
    """The shape to which all of them broadcast, or PyTorch's error."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise no_common_shape([tuple(shape) for shape in shapes]) from None


cdef object no_common_shape(list shapes):
    """Which sizes differ, in the first dimension, counted from the last, in which some do."""
    for at in range(1, max(map(len, shapes)) + 1):
        found = [shape[len(shape) - at] for shape in shapes if len(shape) >= at and shape[len(shape) - at] != 1]
        other = [size for size in found if size != found[0]]
        if other:
            sizes = " and ".join([str(list(shape)) for shape in shapes])
            return RuntimeError(
                f"The size of tensor a ({found[0]}) must match the size of tensor b ({other[0]}) at non-singleton dimension "
                f"{max(map(len, shapes)) - at}; shapes {sizes} do not broadcast"
            )
    return RuntimeError("tensors have more dimensions than NumPy's arrays can have")


# ---- arrays from layouts

cdef object view_at(cnp.ndarray a, Layout *layout, npy_intp offset):
    """Array of this layout over the memory of `a`, `offset` bytes after its first element."""
    return view_as(a, PyArray_DESCR(<PyArrayObject *>a), layout, offset)


cdef object view_as(cnp.ndarray a, PyArray_Descr *descr, Layout *layout, npy_intp offset):
    """The same with elements of another type."""
    cdef PyObject *owner = <PyObject *>a
    cdef PyObject *view
    Py_INCREF_descr(descr)
    view = PyArray_NewFromDescr(
        <PyTypeObject *>cnp.ndarray, descr, layout.ndim, layout.sizes, layout.strides, cnp.PyArray_BYTES(a) + offset,
        PyArray_FLAGS(<PyArrayObject *>a) & cnp.NPY_ARRAY_WRITEABLE, NULL)
    Py_INCREF_pointer(owner)
    if PyArray_SetBaseObject(<PyArrayObject *>view, owner) < 0:
        Py_DECREF_pointer(view)
        raise RuntimeError("a view could not be made")
    return take(view)


cdef void read_layout(cnp.ndarray a, Layout *layout) noexcept:
    cdef int i
    layout.ndim = cnp.PyArray_NDIM(a)
    for i in range(layout.ndim):
        layout.sizes[i] = cnp.PyArray_DIM(a, i)
        layout.strides[i] = cnp.PyArray_STRIDE(a, i)


cdef int push(Layout *layout, npy_intp size, npy_intp stride) except -1:
    """One more dimension behind the others."""
    if layout.ndim >= MAX_DIMS:
        raise RuntimeError(f"tensors have at most {MAX_DIMS} dimensions")
    layout.sizes[layout.ndim] = size
    layout.strides[layout.ndim] = stride
    layout.ndim += 1
    return 0


cdef list listed(object sizes):
    """Sizes as messages show them, whatever sequence they came as."""
    return [int(size) for size in sizes]


cdef list shape_list(cnp.ndarray a):
    return [cnp.PyArray_DIM(a, i) for i in range(cnp.PyArray_NDIM(a))]


cdef int require_array(cnp.ndarray a) except -1:
    """Cython lets None pass for an ndarray."""
    if a is None:
        raise TypeError("expected an ndarray, got None")
    return 0


# ---- reshape and view

cpdef object reshape_of(cnp.ndarray a, object shape):
    """The elements in another shape: a view when strides can say it, else a copy that owns its memory."""
    require_array(a)
    cdef Layout layout
    read_sizes(a, shape, &layout)
    if fit_strides(a, &layout):
        return view_at(a, &layout, 0)
    return copied(a, &layout)


cpdef object view_of(cnp.ndarray a, object size):
    require_array(a)
    cdef Layout layout
    read_sizes(a, size, &layout)
    if not fit_strides(a, &layout):
        raise RuntimeError(
            f"view(): a tensor of size {shape_list(a)} and strides {element_strides(a)} cannot be seen as size "
            f"{listed(size)} without a copy. Use .reshape(...) instead"
        )
    return view_at(a, &layout, 0)


cdef int read_sizes(cnp.ndarray a, object shape, Layout *layout) except -1:
    """Sizes of `shape` for the elements of `a`; one of them may be -1."""
    cdef npy_intp total = cnp.PyArray_SIZE(a)
    cdef npy_intp known = 1
    cdef npy_intp size
    cdef int inferred = -1
    layout.ndim = 0
    for one in shape:
        size = one
        push(layout, size, 0)
        if size >= 0:
            known *= size
        elif size != -1:
            raise RuntimeError(f"invalid shape dimension {size} at index {layout.ndim - 1} of shape {listed(shape)}")
        elif inferred >= 0:
            raise RuntimeError(f"only one dimension can be inferred, but shape {listed(shape)} has several -1")
        else:
            inferred = layout.ndim - 1
    if inferred >= 0:
        layout.sizes[inferred] = infer_size(total, known, shape)
    elif known != total:
        refuse_size(total, shape)
    return 0


cdef npy_intp infer_size(npy_intp total, npy_intp known, object shape) except -1:
    if known == 0:
        if total:
            refuse_size(total, shape)
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {listed(shape)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    if total % known:
        refuse_size(total, shape)
    return total // known


cdef int refuse_size(npy_intp total, object shape) except -1:
    raise RuntimeError(f"shape '{listed(shape)}' is invalid for input of size {total}")


cdef bint fit_strides(cnp.ndarray a, Layout *layout) noexcept:
    """Strides under which the memory of `a` has the sizes of `layout`; False when there are none.

    Both shapes are walked from the last dimension. Old dimensions that lie in one piece of memory form a block, and
    new dimensions must fill block after block.
    """
    cdef int old = cnp.PyArray_NDIM(a) - 1
    cdef int new = layout.ndim - 1
    cdef npy_intp stride, block, filled
    if cnp.PyArray_IS_C_CONTIGUOUS(a) or cnp.PyArray_SIZE(a) == 0:
        set_contiguous(layout, cnp.PyArray_ITEMSIZE(a))
        return True
    while old >= 0:
        stride = cnp.PyArray_STRIDE(a, old)
        block = cnp.PyArray_DIM(a, old)
        while old > 0 and (
            cnp.PyArray_DIM(a, old - 1) == 1 or cnp.PyArray_STRIDE(a, old - 1) == block * stride or block == 1
        ):
            old -= 1
            if block == 1:
                stride = cnp.PyArray_STRIDE(a, old)
            block *= cnp.PyArray_DIM(a, old)
        old -= 1
        filled = 1
        while new >= 0 and (filled < block or layout.sizes[new] == 1):
            layout.strides[new] = filled * stride
            filled *= layout.sizes[new]
            new -= 1
        if filled != block:
            return False
    return new < 0


cdef void set_contiguous(Layout *layout, npy_intp itemsize) noexcept:
    cdef int i
    cdef npy_intp stride = itemsize
    for i in range(layout.ndim - 1, -1, -1):
        layout.strides[i] = stride
        stride *= layout.sizes[i] if layout.sizes[i] else 1


cdef object copied(cnp.ndarray a, Layout *layout):
    """A new array of the layout's sizes with the elements of `a` in order."""
    cdef PyObject *memory = empty_array(cnp.PyArray_TYPE(a), layout.ndim, layout.sizes)
    cdef cnp.ndarray result = take(memory)
    cdef Layout same
    read_layout(a, &same)
    set_contiguous(&same, cnp.PyArray_ITEMSIZE(a))
    shown = view_at(result, &same, 0)
    copy_into(<PyObject *>shown, <PyObject *>a)
    return result


cdef list element_strides(cnp.ndarray a):
    return [cnp.PyArray_STRIDE(a, i) // cnp.PyArray_ITEMSIZE(a) for i in range(cnp.PyArray_NDIM(a))]


# ---- elements of another type

cpdef object view_dtype_of(cnp.ndarray a, cnp.dtype dtype):
    """The bytes of `a` as elements of another type, of which the last dimension has more when they are smaller."""
    require_array(a)
    if dtype is None:
        raise TypeError("view(): expected a dtype, got None")
    cdef Layout layout
    cdef npy_intp old = cnp.PyArray_ITEMSIZE(a)
    cdef npy_intp new = dtype.itemsize
    read_layout(a, &layout)
    if old != new:
        require_divisible(a, dtype, &layout)
        layout.sizes[layout.ndim - 1] = layout.sizes[layout.ndim - 1] * old // new
        layout.strides[layout.ndim - 1] = new
    if is_meta(<PyObject *>a):
        return take(meta_array(dtype.num, layout.ndim, layout.sizes))
    result = view_as(a, <PyArray_Descr *>dtype, &layout, 0)
    if dtype.kind == "b" and a.dtype.kind != "b":
        require_truths(result)
    return result


cdef int require_truths(cnp.ndarray a) except -1:
    """NumPy and the kernels count on bytes that are 0 or 1."""
    if (a.view("u1") > 1).any():
        raise RuntimeError("view(): bytes other than 0 and 1 are no bools. Use x.view(gradsmith.uint8) != 0 instead")
    return 0


cdef int require_divisible(cnp.ndarray a, cnp.dtype dtype, Layout *layout) except -1:
    """Can the elements of the last dimension be taken together, or apart, for a type of that size?

    A stride that is never walked may be any.
    """
    cdef npy_intp old = cnp.PyArray_ITEMSIZE(a)
    cdef npy_intp new = dtype.itemsize
    cdef npy_intp ratio = max(new // old, 1)
    cdef int last = layout.ndim - 1
    cdef bint is_walked = cnp.PyArray_SIZE(a) > 0 and not is_meta(<PyObject *>a)
    if last < 0:
        refuse_dtype(a, dtype, "self.dim() cannot be 0", "")
    if layout.sizes[last] % ratio:
        refuse_dtype(a, dtype, f"self.size(-1) must be divisible by {ratio}", f", but got {layout.sizes[last]}")
    if is_walked and ratio > 1 and bytes_before(a) % new:
        offset = bytes_before(a) // old
        refuse_dtype(a, dtype, f"self.storage_offset() must be divisible by {ratio}", f", but got {offset}")
    if is_walked and layout.sizes[last] > 1 and layout.strides[last] != old:
        refuse_dtype(a, dtype, "self.stride(-1) must be 1", f", but got {layout.strides[last] // old}")
    for i in range(last):
        if is_walked and layout.sizes[i] > 1 and layout.strides[i] % (ratio * old):
            stride = layout.strides[i] // old
            refuse_dtype(a, dtype, f"self.stride({i}) must be divisible by {ratio}", f", but got {stride}")
    return 0


cdef npy_intp bytes_before(cnp.ndarray a) except -1:
    """Bytes between the start of the memory that the array shares and its first element."""
    cdef object owner = a
    while isinstance(owner.base, cnp.ndarray):
        owner = owner.base
    return cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(<cnp.ndarray>owner)


cdef int refuse_dtype(cnp.ndarray a, cnp.dtype dtype, str must, str found) except -1:
    raise RuntimeError(f"view(): {must} to view {a.dtype} as {dtype} (different element sizes){found}")


# ---- dimensions in another order

cpdef object transpose_of(cnp.ndarray a, Py_ssize_t dim0, Py_ssize_t dim1):
    require_array(a)
    cdef Layout layout
    cdef int first = wrap_dim(dim0, cnp.PyArray_NDIM(a))
    cdef int second = wrap_dim(dim1, cnp.PyArray_NDIM(a))
    read_layout(a, &layout)
    if layout.ndim:
        exchange(&layout, first, second)
    return view_at(a, &layout, 0)


cdef void exchange(Layout *layout, int first, int second) noexcept:
    cdef npy_intp size = layout.sizes[first]
    cdef npy_intp stride = layout.strides[first]
    layout.sizes[first], layout.strides[first] = layout.sizes[second], layout.strides[second]
    layout.sizes[second], layout.strides[second] = size, stride


cpdef object permute_of(cnp.ndarray a, object dims):
    require_array(a)
    cdef Layout layout
    cdef int axes[MAX_DIMS]
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef int i
    if len(dims) != ndim:
        raise RuntimeError(
            f"permute(): the tensor has {ndim} dimensions (size {shape_list(a)}), but dims={listed(dims)} names "
            f"{len(dims)}"
        )
    read_axes(dims, ndim, axes)
    layout.ndim = 0
    for i in range(ndim):
        push(&layout, cnp.PyArray_DIM(a, axes[i]), cnp.PyArray_STRIDE(a, axes[i]))
    return view_at(a, &layout, 0)


cpdef object t_of(cnp.ndarray a):
    require_array(a)
    cdef Layout layout
    read_layout(a, &layout)
    if layout.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but the input has {layout.ndim}: {shape_list(a)}"
        )
    if layout.ndim == 2:
        exchange(&layout, 0, 1)
    return view_at(a, &layout, 0)


cpdef object T_of(cnp.ndarray a):
    require_array(a)
    cdef Layout layout
    cdef int i
    read_layout(a, &layout)
    for i in range(layout.ndim // 2):
        exchange(&layout, i, layout.ndim - 1 - i)
    return view_at(a, &layout, 0)


cpdef object mT_of(cnp.ndarray a):
    require_array(a)
    cdef Layout layout
    read_layout(a, &layout)
    if layout.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if layout.ndim > 1:
        exchange(&layout, layout.ndim - 2, layout.ndim - 1)
    return view_at(a, &layout, 0)


# ---- dimensions of size one

cpdef object squeeze_of(cnp.ndarray a, object dim):
    """Without the dimensions of size one, or (`dim`) those of them."""
    require_array(a)
    cdef Layout layout
    cdef int axes[MAX_DIMS]
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef int count = 0 if dim is None else read_axes(dim, ndim, axes)
    cdef int i
    layout.ndim = 0
    for i in range(ndim):
        if cnp.PyArray_DIM(a, i) != 1 or (dim is not None and not is_reduced(i, axes, count)):
            push(&layout, cnp.PyArray_DIM(a, i), cnp.PyArray_STRIDE(a, i))
    return view_at(a, &layout, 0)


cpdef object unsqueeze_of(cnp.ndarray a, Py_ssize_t dim):
    require_array(a)
    cdef Layout layout
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef int place = wrap_dim(dim, ndim + 1)
    cdef int i
    layout.ndim = 0
    for i in range(ndim):
        if i == place:
            push(&layout, 1, cnp.PyArray_DIM(a, i) * cnp.PyArray_STRIDE(a, i))
        push(&layout, cnp.PyArray_DIM(a, i), cnp.PyArray_STRIDE(a, i))
    if place == ndim:
        push(&layout, 1, cnp.PyArray_ITEMSIZE(a))
    return view_at(a, &layout, 0)


cpdef object restore_dims_of(cnp.ndarray a, int ndim, object dim, bint keepdim):
    """A reduction's result with the dimensions it lost put back with size one; `ndim` is what it was before."""
    require_array(a)
    cdef Layout layout
    cdef int axes[MAX_DIMS]
    cdef int count, i
    cdef int kept = 0
    if keepdim or ndim == 0:
        read_layout(a, &layout)
        return view_at(a, &layout, 0)
    if not 0 < ndim <= MAX_DIMS:
        raise RuntimeError(f"restore_dims(): ndim is {ndim}; it must be between 0 and {MAX_DIMS}")
    count = 0 if dim is None else read_axes(dim, ndim, axes)
    if ndim - (count or ndim) != cnp.PyArray_NDIM(a):
        raise RuntimeError(
            f"restore_dims(): a tensor of {cnp.PyArray_NDIM(a)} dimensions is not what is left of {ndim} without "
            f"{count or ndim} of them"
        )
    layout.ndim = 0
    for i in range(ndim):
        if count == 0 or is_reduced(i, axes, count):
            push(&layout, 1, cnp.PyArray_ITEMSIZE(a))
        else:
            push(&layout, cnp.PyArray_DIM(a, kept), cnp.PyArray_STRIDE(a, kept))
            kept += 1
    return view_at(a, &layout, 0)


# ---- expand

cpdef object expand_of(cnp.ndarray a, object size):
    """View in which dimensions of size one, and new ones in front, are repeated by a stride of zero."""
    require_array(a)
    cdef Layout layout
    cdef int added = <int>len(size) - cnp.PyArray_NDIM(a)
    cdef npy_intp wanted
    if added < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({cnp.PyArray_NDIM(a)}); sizes {listed(size)}, tensor {shape_list(a)}"
        )
    layout.ndim = 0
    for one in size:
        wanted = one
        if layout.ndim < added:
            if wanted < 0:
                raise RuntimeError(
                    f"expand(): the size {wanted} is not allowed in the new, leading dimension {layout.ndim}; "
                    f"sizes {listed(size)}, tensor {shape_list(a)}"
                )
            push(&layout, wanted, 0)
        else:
            push_expanded(a, &layout, layout.ndim - added, wanted, size)
    return view_at(a, &layout, 0)


cdef int push_expanded(cnp.ndarray a, Layout *layout, int axis, npy_intp wanted, object size) except -1:
    cdef npy_intp have = cnp.PyArray_DIM(a, axis)
    if wanted == -1 or wanted == have:
        return push(layout, have, cnp.PyArray_STRIDE(a, axis))
    if have != 1 or wanted < 0:
        raise RuntimeError(
            f"The expanded size of the tensor ({wanted}) must match the existing size ({have}) at non-singleton "
            f"dimension {layout.ndim}. Target sizes: {listed(size)}. Tensor sizes: {shape_list(a)}"
        )
    return push(layout, wanted, 0)


# ---- parts

cpdef object select_of(cnp.ndarray a, Py_ssize_t dim, Py_ssize_t index):
    require_array(a)
    cdef Layout layout
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef int axis, i
    cdef npy_intp size
    if ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, ndim)
    size = cnp.PyArray_DIM(a, axis)
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {shape_list(a)} at dimension {axis}"
        )
    layout.ndim = 0
    for i in range(ndim):
        if i != axis:
            push(&layout, cnp.PyArray_DIM(a, i), cnp.PyArray_STRIDE(a, i))
    return view_at(a, &layout, (index + size if index < 0 else index) * cnp.PyArray_STRIDE(a, axis))


cpdef object narrow_of(cnp.ndarray a, Py_ssize_t dim, Py_ssize_t start, Py_ssize_t length):
    require_array(a)
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef int axis
    cdef npy_intp size
    if ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, ndim)
    size = cnp.PyArray_DIM(a, axis)
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, but got {length}")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    if start < 0:
        start += size
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return part(a, axis, start, length)


cdef object part(cnp.ndarray a, int axis, npy_intp start, npy_intp length):
    cdef Layout layout
    read_layout(a, &layout)
    layout.sizes[axis] = length
    return view_at(a, &layout, start * layout.strides[axis])


cpdef list split_of(cnp.ndarray a, object split_size, Py_ssize_t dim):
    """Views along an axis, of one length (an int) or of given lengths."""
    require_array(a)
    cdef int axis
    if cnp.PyArray_NDIM(a) == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    if isinstance(split_size, int):
        return equal_parts(a, axis, split_size)
    return parts_of(a, axis, split_size)


cdef list equal_parts(cnp.ndarray a, int axis, Py_ssize_t length):
    cdef npy_intp size = cnp.PyArray_DIM(a, axis)
    cdef npy_intp start, i
    if length < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={length}")
    if length == 0:
        if size:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
        length = 1
    if size == 0:
        return [part(a, axis, 0, 0)]
    parts = room_for((size - 1) // length + 1)
    for i in range(len(parts)):
        look_for_signals(i)
        start = i * length
        parts[i] = part(a, axis, start, min(length, size - start))
    return parts


cdef list room_for(npy_intp count):
    """A list of its full length at once: memory that does not suffice is refused before any of it is written."""
    if count > SSIZE_MAX // <npy_intp>sizeof(PyObject *):
        raise MemoryError(f"a list of {count} tensors does not fit in memory")
    return [None] * count


cdef int look_for_signals(npy_intp i) except -1:
    """Now and then, so that a long loop can be interrupted."""
    return PyErr_CheckSignals() if i & 0xFFF == 0xFFF else 0


cdef list parts_of(cnp.ndarray a, int axis, object lengths):
    cdef npy_intp start = 0
    cdef npy_intp length
    cdef list parts = []
    if any([one < 0 for one in lengths]):
        raise RuntimeError(f"split expects only non-negative lengths, but got {listed(lengths)}")
    if sum(lengths) != cnp.PyArray_DIM(a, axis):
        raise RuntimeError(
            f"split expects the lengths to sum exactly to {cnp.PyArray_DIM(a, axis)} (input tensor's size at "
            f"dimension {axis}), but got {listed(lengths)}"
        )
    for one in lengths:
        length = one
        parts.append(part(a, axis, start, length))
        start += length
    return parts


cpdef list unbind_of(cnp.ndarray a, Py_ssize_t dim):
    require_array(a)
    cdef int axis
    cdef npy_intp i
    if cnp.PyArray_NDIM(a) == 0:
        raise IndexError("unbind(): a tensor without dimensions has no parts")
    axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    parts = room_for(cnp.PyArray_DIM(a, axis))
    for i in range(len(parts)):
        look_for_signals(i)
        parts[i] = select_of(a, axis, i)
    return parts


# ---- any strides

cpdef object strided_view_of(cnp.ndarray a, object geometry):
    """View of the sizes, strides and offset of a StridedGeometry, which has been checked against the memory of `a`."""
    require_array(a)
    cdef Layout layout
    cdef npy_intp stride
    cdef bint has_data = not is_meta(<PyObject *>a)
    layout.ndim = 0
    for size, one in zip(geometry.size, geometry.stride):
        stride = one if has_data else 0
        push(&layout, size, stride)
    return view_at(a, &layout, geometry.offset if has_data else 0)
