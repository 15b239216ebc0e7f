"""Sums, means, extrema and their relatives along dimensions.

The frequent ones go to the kernels of runtime/arrays/array, the others to NumPy. This module adds: dimensions checked
with PyTorch's errors, integers summed as int64, and NumPy's warnings kept quiet, since NaN and infinity are results.
"""

from cpython.ref cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    ABSOLUTE,
    SQRT,
    SQUARE,
    SUBTRACT,
    TRUE_DIVIDE,
    amax_axes,
    amin_axes,
    binary,
    binary_scalar,
    cast,
    clone,
    clone_by_rows,
    full_array,
    contiguous,
    default_type,
    is_meta,
    log_softmax,
    log_softmax_backward,
    logsumexp,
    mean_axes,
    meta_array,
    nansum_axes,
    prod_axes,
    readable_copy,
    release_array,
    softmax,
    softmax_backward,
    sum_axes,
    sum_to,
    unary,
    unary_into,
)
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim, wrapped_axes
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_zeros, read_shape, take
from gradsmith.runtime.arrays.functions.running.scans cimport add_along
from gradsmith.runtime.arrays.functions.scatter_gather cimport gather_places, int64_index, is_addable

import numpy as np

from gradsmith.runtime.switches.lazy_modules import LazyModule


cdef object complex_casts = LazyModule("gradsmith.runtime.arrays.complex_casts")

cnp.import_array()

cdef enum:
    FEW = 4096              # elements up to which a search of our own is faster than NumPy's calls

# Elements that it is for.
ctypedef fused ordered:
    float
    double
    int64_t


cdef object as_type(object a, int type_number):
    """The elements in another type, to be read."""
    if is_meta(<PyObject *>a):
        return take(meta_array(type_number, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a)))
    return take(cast(<PyObject *>a, type_number))


cdef bint is_floating(object a) noexcept:
    """Of a real or complex floating type."""
    cdef int type_number = cnp.PyArray_TYPE(a)
    return cnp.PyTypeNum_ISFLOAT(type_number) or cnp.PyTypeNum_ISCOMPLEX(type_number)


cdef bint is_half(object a) noexcept:
    return cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT16


cdef object widened(object a):
    """Halves as float32: what is added or multiplied in their own type soon overflows."""
    return as_type(a, cnp.NPY_FLOAT32) if is_half(a) else a


cdef object narrowed(object result, object a):
    """A result of `widened(a)` in the type of `a`."""
    return as_type(result, cnp.NPY_FLOAT16) if is_half(a) else result


cdef object addable(object a, object dtype):
    """The elements as they are added when the result has a dtype: integers as they are, since a sum is exact."""
    if dtype is None or (a.dtype.kind in "biu" and dtype.kind in "iu"):
        return a
    return as_asked(a, dtype)


cdef object as_asked(object a, object dtype):
    """The elements in the dtype that was asked for."""
    return as_type(complex_casts.real_where_kept(a, dtype), dtype.num)


cdef object in_dtype(object result, object dtype):
    return result if dtype is None else as_type(result, dtype.num)


cdef int reduced_type(object a, object dtype) except -1:
    """The type of a sum or product: `dtype`, else int64 for integers and bool."""
    if dtype is not None:
        return dtype.num
    return cnp.PyArray_TYPE(a) if is_floating(a) else cnp.NPY_INT64


cdef object without_data(object a, object axes, bint keepdim, int type_number):
    """Result of a reduction on the meta device."""
    return as_type(take(sum_axes(<PyObject *>a, axes, keepdim)), type_number)


cdef object axis_of(object a, Py_ssize_t dim):
    return wrap_dim(dim, cnp.PyArray_NDIM(a))


# ---- sums

cpdef object sum_of(object a, object dim, bint keepdim, object dtype):
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    if dtype is None or not are_counted(a, dtype):      # else they are added as they are, without a converted copy
        a = addable(a, dtype)
    return in_dtype(take(sum_axes(<PyObject *>a, axes, keepdim)), dtype)


cpdef object number_sum_of(object a, object dim, bint keepdim, object dtype):
    """Of the elements that are no NaN, which integers never are."""
    if not is_floating(a) or is_meta(<PyObject *>a):
        return sum_of(a, dim, keepdim, dtype)
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(a)) or (dtype is not None and dtype.kind != "f"):
        return sum_of(np.where(np.isnan(a), a.dtype.type(0), a), dim, keepdim, dtype)
    typed = widened(addable(a, dtype))
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    return as_type(take(nansum_axes(<PyObject *>typed, axes, keepdim)), reduced_type(a, dtype))


cdef bint are_counted(object a, object dtype) except -1:
    """Integers whose sum is wanted in a floating type, and cannot overflow their own."""
    return dtype.kind in "fc" and a.dtype.kind in "biu" and a.itemsize < 8


cpdef object mean_of(object a, object dim, bint keepdim, object dtype):
    if dtype is not None:
        if are_counted(a, dtype):
            return mean_of_integers(a, dim, keepdim, dtype)
        if dtype == np.float16 and a.dtype != np.float16:      # a sum of numbers beyond it may have a mean within
            return as_type(mean_of(a, dim, keepdim, np.dtype(np.float32)), cnp.NPY_FLOAT16)
        a = as_asked(a, dtype)
    if not is_floating(a):
        raise RuntimeError(
            f"mean(): the mean of {a.dtype} is not defined; give a floating or complex dtype, as in "
            "x.mean(dtype=gradsmith.float32)"
        )
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    return take(mean_axes(<PyObject *>a, axes, keepdim))


cdef object mean_of_integers(object a, object dim, bint keepdim, object dtype):
    """Of integers whose sum cannot overflow, without a converted copy of them."""
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    total = as_type(take(sum_axes(<PyObject *>a, axes, keepdim)), cnp.NPY_FLOAT64)
    return as_type(take(binary_scalar(TRUE_DIVIDE, <PyObject *>total, counted(a.shape, axes), False)), dtype.num)


cpdef object sum_to_of(object a, object size):
    """Sum down to a shape that broadcasts to that of `a`; always memory of its own."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int ndim = read_shape(size, dims)
    check_sum_to(a.shape, tuple(size))
    result = take(sum_to(<PyObject *>a, ndim, dims))
    if result is not a:
        return result
    return readable_copy(a) if is_meta(<PyObject *>a) else take(clone(<PyObject *>a))


cdef int check_sum_to(tuple shape, tuple size) except -1:
    cdef Py_ssize_t added = len(shape) - len(size)
    if added >= 0 and all([n == 1 or n == shape[added + i] for i, n in enumerate(size)]):
        return 0
    raise RuntimeError(f"sum_to(): size {list(size)} does not broadcast to the tensor's size {list(shape)}")


cdef enum:
    SHORT = 64      # elements, up to which the loop of NumPy costs less than the call of it


cdef bint is_short(object a) noexcept:
    """A few real numbers of single or double precision, one after the other."""
    cdef int type_number = cnp.PyArray_TYPE(a)
    cdef bint is_plain = type_number == cnp.NPY_FLOAT32 or type_number == cnp.NPY_FLOAT64
    return is_plain and cnp.PyArray_SIZE(a) <= SHORT and cnp.PyArray_ISCARRAY_RO(a)


cdef object short_product(object a):
    """The product of all elements, in the order in which NumPy multiplies them."""
    cdef npy_intp place, size = cnp.PyArray_SIZE(a)
    cdef void *data = cnp.PyArray_DATA(a)
    cdef float single = 1
    cdef double product = 1
    result = fresh_zeros(cnp.PyArray_TYPE(a), ())
    if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32:
        for place in range(size):
            single *= (<float *>data)[place]
        (<float *>cnp.PyArray_DATA(result))[0] = single
    else:
        for place in range(size):
            product *= (<double *>data)[place]
        (<double *>cnp.PyArray_DATA(result))[0] = product
    return result


cpdef object prod_of(object a, object dim, bint keepdim, object dtype):
    cdef int type_number = reduced_type(a, dtype)
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    if is_meta(<PyObject *>a):
        return without_data(a, axes, keepdim, type_number)
    if (axes is None or cnp.PyArray_NDIM(a) == 1) and not keepdim and dtype is None and is_short(a):
        return short_product(a)
    a = widened(addable(a, dtype))
    return as_type(take(prod_axes(<PyObject *>a, axes, keepdim)), type_number)


cpdef object cumsum_of(object a, Py_ssize_t dim, object dtype):
    return running_sum(a, dim, dtype, False)


cpdef object cumsum_reversed_of(object a, Py_ssize_t dim):
    return running_sum(a, dim, None, True)


cdef object running_sum(object a, Py_ssize_t dim, object dtype, bint reverse):
    cdef int axis = axis_of(a, dim)
    cdef int type_number = reduced_type(a, dtype)
    if type_number == cnp.NPY_BOOL and cnp.PyArray_NDIM(a) and cnp.PyArray_SIZE(a):
        raise NotImplementedError("cumsum(): not defined for dtype bool; give an integer dtype, such as int64")
    if is_meta(<PyObject *>a):
        return as_type(a, type_number)
    sums = own_copy(addable(a, dtype), type_number)
    if cnp.PyArray_NDIM(sums):
        add_along(sums, axis, reverse)
    return as_type(sums, type_number)


cdef object own_copy(object a, int type_number):
    """The elements by rows, to be added in place for a result of this type: in a type that there is a loop for."""
    cdef object copy = as_type(a, type_number)
    if not is_addable(copy):
        copy = as_type(a, cnp.NPY_FLOAT32 if type_number == cnp.NPY_FLOAT16 else cnp.NPY_INT64)
    if copy is a or not cnp.PyArray_IS_C_CONTIGUOUS(copy):
        copy = take(clone_by_rows(<PyObject *>copy))
    return copy


# ---- variance

cpdef object var_of(object a, object dim, object correction, bint keepdim):
    """Mean squared distance from the mean; of complex numbers the squared magnitude."""
    return narrowed(variance_of("var", a, dim, correction, keepdim), a)


cdef object variance_of(str op, object a, object dim, object correction, bint keepdim):
    """The same; of halves in float32."""
    if not is_floating(a):
        raise RuntimeError(f"std and var only support floating point and complex dtypes, but got {a.dtype}")
    a = widened(a)
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    cdef PyObject *mean = mean_axes(<PyObject *>a, axes, True)
    cdef PyObject *distance = binary(SUBTRACT, <PyObject *>a, mean)
    cdef PyObject *magnitude
    release_array(mean)
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(a)):
        magnitude = unary(ABSOLUTE, distance)
        release_array(distance)
        distance = magnitude
    try:
        unary_into(SQUARE, distance, distance)
        total = take(sum_axes(distance, axes, keepdim))
    finally:
        release_array(distance)     # it serves the next result of its size, without page faults
    freedom = counted(a.shape, axes) - (1 if correction is None else correction)
    if freedom <= 0:
        if op is not None:  # it has been said otherwise
            warn_without_freedom(op, a)
        freedom = 0
    return take(binary_scalar(TRUE_DIVIDE, <PyObject *>total, float(freedom), False))


cdef object warn_without_freedom(str op, object a):
    """Warn that the result is NaN, or infinite, for want of elements; one whose elements are not there yet is none."""
    if is_meta(<PyObject *>a):
        return
    from gradsmith.runtime.arrays.warning_place import warn_caller

    warn_caller(
        f"{op}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
        "numel divided by output numel)."
    )


cpdef object std_of(object a, object dim, object correction, bint keepdim):
    variance = variance_of("std", a, dim, correction, keepdim)
    if is_single(a) and not is_meta(<PyObject *>a) and leaves_range(variance):
        wide = as_type(a, cnp.NPY_FLOAT64 if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32 else cnp.NPY_COMPLEX128)
        variance = variance_of(None, wide, dim, correction, keepdim)
        return as_type(take(unary(SQRT, <PyObject *>variance)), cnp.NPY_FLOAT32)
    return narrowed(take(unary(SQRT, <PyObject *>variance)), a)


cdef bint is_single(object a) noexcept:
    return cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32 or cnp.PyArray_TYPE(a) == cnp.NPY_COMPLEX64


cdef bint leaves_range(object variance) except -1:
    """Is a square too large or too small for float32, where its root need not be?"""
    cdef cnp.ndarray found = take(contiguous(<PyObject *>variance))
    cdef const float *elements = <const float *>cnp.PyArray_DATA(found)
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(found)):
        if not 1e-30 < elements[i] < INFINITY:
            return True
    return False


cdef object counted(tuple shape, object axes):
    """How many elements a reduction makes one."""
    if axes is None:
        axes = range(len(shape))
    elif isinstance(axes, int):
        axes = (axes,)
    count = 1
    for axis in axes:
        count *= shape[axis]
    return count


# ---- extrema

cpdef object amax_of(object a, object dim, bint keepdim):
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    check_not_empty("amax", a, axes)
    return take(amax_axes(<PyObject *>a, axes, keepdim))


cpdef object amin_of(object a, object dim, bint keepdim):
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    check_not_empty("amin", a, axes)
    return take(amin_axes(<PyObject *>a, axes, keepdim))


cdef int check_not_empty(str op, object a, object axes) except -1:
    """An extremum of no elements does not exist."""
    if cnp.PyArray_SIZE(a):
        return 0
    if axes is None:
        raise RuntimeError(f"{op}(): the tensor of size {list(a.shape)} has no elements. Specify the reduction dim.")
    for axis in (axes if isinstance(axes, tuple) else (axes,)):
        if a.shape[axis] == 0:
            raise IndexError(
                f"{op}(): Expected reduction dim {axis} to have non-zero size, but the size is {list(a.shape)}."
            )
    return 0


cpdef tuple max_of(object a, Py_ssize_t dim, bint keepdim):
    return extremum_of("max", np.argmax, a, dim, keepdim)


cpdef tuple min_of(object a, Py_ssize_t dim, bint keepdim):
    return extremum_of("min", np.argmin, a, dim, keepdim)


cdef tuple extremum_of(str op, object find, object a, Py_ssize_t dim, bint keepdim):
    """Values along an axis, and where they are (the first place, or that of a NaN)."""
    axis = axis_of(a, dim)
    if a.ndim == 0:
        return a.copy(), np.zeros((), np.int64)
    check_not_empty(op, a, axis)
    if is_meta(<PyObject *>a):
        return (
            without_data(a, axis, keepdim, cnp.PyArray_TYPE(a)),
            without_data(a, axis, keepdim, cnp.NPY_INT64),
        )
    if cnp.PyArray_SIZE(a) <= FEW and cnp.PyArray_CHKFLAGS(a, cnp.NPY_ARRAY_ALIGNED):
        if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32:
            return few_extrema[float](a, axis, keepdim, op == "max")
        if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT64:
            return few_extrema[double](a, axis, keepdim, op == "max")
        if cnp.PyArray_TYPE(a) == cnp.NPY_INT64:
            return few_extrema[int64_t](a, axis, keepdim, op == "max")
    indices = find(a, axis=axis, keepdims=True)
    values = gather_places(a, axis, int64_index(indices))
    if keepdim:
        return values, indices
    return values.squeeze(axis), indices.squeeze(axis)


cdef inline bint is_nan(ordered x) noexcept:
    if ordered is int64_t:
        return False
    else:
        return x != x


cdef tuple few_extrema(object a, int axis, bint keepdim, bint largest, ordered like=0):
    """The same of so few elements that NumPy's calls would take longer than the search."""
    cdef npy_intp dims[MAX_DIMS]
    cdef npy_intp i, place, row = 0, n = cnp.PyArray_DIM(a, axis), stride = cnp.PyArray_STRIDE(a, axis)
    cdef int d, nd = 0
    for d in range(cnp.PyArray_NDIM(a)):
        if d != axis or keepdim:
            dims[nd] = 1 if d == axis else cnp.PyArray_DIM(a, d)
            nd += 1
    values = cnp.PyArray_EMPTY(nd, dims, cnp.PyArray_TYPE(a), 0)
    places = cnp.PyArray_EMPTY(nd, dims, cnp.NPY_INT64, 0)
    rows = cnp.PyArray_IterAllButAxis(a, &axis)
    cdef const char *element
    cdef ordered x, found
    while cnp.PyArray_ITER_NOTDONE(rows):
        element = <const char *>cnp.PyArray_ITER_DATA(rows)
        found, place = (<const ordered *>element)[0], 0
        for i in range(1, n):
            if is_nan(found):
                break
            element += stride
            x = (<const ordered *>element)[0]
            if (x > found if largest else x < found) or is_nan(x):
                found, place = x, i
        (<ordered *>cnp.PyArray_DATA(values))[row] = found
        (<int64_t *>cnp.PyArray_DATA(places))[row] = place
        row += 1
        cnp.PyArray_ITER_NEXT(rows)
    return values, places


cpdef object argmax_of(object a, object dim, bint keepdim):
    return place_of("argmax", np.ndarray.argmax, a, dim, keepdim)


cpdef object argmin_of(object a, object dim, bint keepdim):
    return place_of("argmin", np.ndarray.argmin, a, dim, keepdim)


cdef object place_of(str op, object find, object a, object dim, bint keepdim):
    axis = None if dim is None else axis_of(a, dim)
    if axis is None and a.size == 0:
        raise IndexError(f"{op}(): the tensor of size {list(a.shape)} has no elements. Specify the reduction dim.")
    if a.ndim == 0:
        return np.zeros((), np.int64)
    check_not_empty(op, a, axis)
    if is_meta(<PyObject *>a):
        return without_data(a, axis, keepdim, cnp.NPY_INT64)
    return np.asarray(find(a, axis=axis, keepdims=keepdim))


# ---- truth

cpdef object all_of(object a, object dim, bint keepdim):
    return truth_of(np.logical_and, a, dim, keepdim)


cpdef object any_of(object a, object dim, bint keepdim):
    return truth_of(np.logical_or, a, dim, keepdim)


cdef object truth_of(object find, object a, object dim, bint keepdim):
    """A bool; of uint8, once PyTorch's type for masks, a uint8. Here, as there, no dimensions mean none."""
    cdef int type_number = cnp.NPY_UINT8 if cnp.PyArray_TYPE(a) == cnp.NPY_UINT8 else cnp.NPY_BOOL
    if dim == ():
        found = as_type(as_type(a, cnp.NPY_BOOL), type_number)
        return found.copy() if found is a else found
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    if is_meta(<PyObject *>a):
        return without_data(a, axes, keepdim, type_number)
    if axes is None and not keepdim and are_few_bools(a):
        return take(full_array(cnp.NPY_BOOL, 0, NULL, truth_of_bools(a, find is np.logical_and)))
    return as_type(np.asarray(find.reduce(a, axis=axes, keepdims=keepdim)), type_number)


cdef bint are_few_bools(object a) noexcept:
    return cnp.PyArray_TYPE(a) == cnp.NPY_BOOL and cnp.PyArray_IS_C_CONTIGUOUS(a) and cnp.PyArray_SIZE(a) <= FEW


cdef bint truth_of_bools(object a, bint are_all) noexcept:
    """Whether all are true, or one is."""
    cdef const char *elements = cnp.PyArray_BYTES(a)
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(a)):
        if (elements[i] != 0) != are_all:
            return not are_all
    return are_all


# ---- softmax family

cpdef object logsumexp_of(object a, object dim, bint keepdim):
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    if not is_floating(a):
        a = as_type(a, default_type())
    if is_meta(<PyObject *>a):
        return without_data(a, axes, keepdim, cnp.PyArray_TYPE(a))
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(a)):
        return complex_logsumexp(a, axes, keepdim)
    return take(logsumexp(<PyObject *>a, axes, keepdim))


cdef object complex_logsumexp(object a, object axes, bint keepdim):
    """With the greatest real part taken out, as far as it is finite."""
    with np.errstate(all="ignore"):
        greatest = np.max(a.real, axis=axes, keepdims=True, initial=-np.inf)
        greatest = np.where(np.isfinite(greatest), greatest, 0).astype(a.real.dtype)
        total = np.log(np.sum(np.exp(a - greatest), axis=axes, keepdims=True)) + greatest
    return np.asarray(total if keepdim else np.squeeze(total, axis=axes))


cdef object softmax_input(str op, object a, object dtype):
    if dtype is not None:
        a = as_asked(a, dtype)
    if cnp.PyTypeNum_ISFLOAT(cnp.PyArray_TYPE(a)):
        return a
    raise NotImplementedError(
        f"{op}() is not defined for {a.dtype}; give a floating dtype, as in x.{op}(dim, dtype=gradsmith.float32)"
    )


cpdef object softmax_of(object a, Py_ssize_t dim, object dtype):
    cdef int axis = axis_of(a, dim)
    a = softmax_input("softmax", a, dtype)
    if cnp.PyArray_NDIM(a) == 0:
        return softmax_of(a.reshape(1), 0, None).reshape(())
    return take(softmax(<PyObject *>a, axis))


cpdef object log_softmax_of(object a, Py_ssize_t dim, object dtype):
    cdef int axis = axis_of(a, dim)
    a = softmax_input("log_softmax", a, dtype)
    if cnp.PyArray_NDIM(a) == 0:
        return log_softmax_of(a.reshape(1), 0, None).reshape(())
    return take(log_softmax(<PyObject *>a, axis))


cdef int check_alike(str op, object grad, object output) except -1:
    if cnp.PyArray_SAMESHAPE(grad, output) and cnp.PyArray_TYPE(grad) == cnp.PyArray_TYPE(output):
        return 0
    raise RuntimeError(
        f"{op}(): the gradient ({grad.dtype}, size {list(grad.shape)}) and the result it belongs to ({output.dtype}, "
        f"size {list(output.shape)}) differ"
    )


cpdef object softmax_backward_of(object grad, object output, Py_ssize_t dim):
    cdef int axis = axis_of(output, dim)
    check_alike("softmax_backward", grad, output)
    if cnp.PyArray_NDIM(output) == 0:
        return softmax_backward_of(grad.reshape(1), output.reshape(1), 0).reshape(())
    return take(softmax_backward(<PyObject *>grad, <PyObject *>output, axis))


cpdef object log_softmax_backward_of(object grad, object output, Py_ssize_t dim):
    cdef int axis = axis_of(output, dim)
    check_alike("log_softmax_backward", grad, output)
    if cnp.PyArray_NDIM(output) == 0:
        return log_softmax_backward_of(grad.reshape(1), output.reshape(1), 0).reshape(())
    return take(log_softmax_backward(<PyObject *>grad, <PyObject *>output, axis))
