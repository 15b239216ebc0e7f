"""Running products and extremes, and linear recurrences, along a dimension."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim, wrapped_axes
from gradsmith.runtime.arrays.functions.ownership cimport fresh_beside

import numpy as np

from gradsmith.runtime.arrays.complex_casts import real_where_kept

cnp.import_array()

ctypedef fused number:
    float
    double
    float complex
    double complex
    int64_t


cdef object as_rows(object a, int axis):
    """The elements in order, of the shape (outer, length, inner), in memory of their own."""
    cdef tuple shape = a.shape
    outer = inner = 1
    for size in shape[:axis]:
        outer *= size
    for size in shape[axis + 1:]:
        inner *= size
    return np.array(a, order="C", copy=True).reshape(outer, shape[axis] if shape else 1, inner)


cdef object computed(object a):
    """In a dtype that there is a loop for."""
    if a.dtype.kind in "biu":
        return a.astype(np.int64)
    return a.astype(np.float32) if a.dtype == np.float16 else a


# ---- products

cpdef object cumprod_of(object a, Py_ssize_t dim, object dtype):
    cdef int axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    wanted = dtype if dtype is not None else (np.dtype(np.int64) if a.dtype.kind in "biu" else a.dtype)
    if wanted.kind == "b" and cnp.PyArray_NDIM(a) and cnp.PyArray_SIZE(a):
        raise NotImplementedError("cumprod(): not defined for dtype bool; give an integer dtype, such as int64")
    if is_meta(<PyObject *>a):
        return fresh_beside(a, wanted.num, a.shape)
    with np.errstate(all="ignore"):
        a = real_where_kept(a, wanted).astype(wanted, copy=False)
    rows = as_rows(computed(a), axis)
    multiply_along(rows)
    with np.errstate(all="ignore"):
        return rows.reshape(a.shape).astype(wanted, copy=False)


def multiply_along(number[:, :, ::1] rows):
    """Each element times all before it, in place."""
    cdef npy_intp i, j, k
    cdef number product
    with nogil:
        for i in range(rows.shape[0]):
            if rows.shape[2] == 1:
                product = 1
                for j in range(rows.shape[1]):
                    product = product * rows[i, j, 0]
                    rows[i, j, 0] = product
                continue
            for j in range(1, rows.shape[1]):
                for k in range(rows.shape[2]):
                    rows[i, j, k] = rows[i, j, k] * rows[i, j - 1, k]


# ---- recurrences

cpdef object recurrence_of(object a, object weight, Py_ssize_t dim):
    """``r[k] = a[k] + weight[k] * r[k - 1]``; the first weight is not used."""
    cdef int axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    if a.shape != weight.shape:
        raise RuntimeError(f"recurrence(): sizes {list(a.shape)} and {list(weight.shape)} differ")
    dtype = np.promote_types(a.dtype, weight.dtype)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>weight):
        return fresh_beside(a, dtype.num, a.shape)
    rows = as_rows(computed(a.astype(dtype, copy=False)), axis)
    add_weighted(rows, as_rows(weight, axis).astype(rows.dtype, copy=False))
    return rows.reshape(a.shape).astype(dtype, copy=False)


def add_weighted(number[:, :, ::1] rows, number[:, :, ::1] weights):
    cdef npy_intp i, j, k
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(1, rows.shape[1]):
                for k in range(rows.shape[2]):
                    rows[i, j, k] = rows[i, j, k] + weights[i, j, k] * rows[i, j - 1, k]


# ---- extremes

cpdef tuple cummax_of(object a, Py_ssize_t dim):
    return running_extreme(a, wrap_dim(dim, cnp.PyArray_NDIM(a)), np.maximum)


cpdef tuple cummin_of(object a, Py_ssize_t dim):
    return running_extreme(a, wrap_dim(dim, cnp.PyArray_NDIM(a)), np.minimum)


cdef tuple running_extreme(object a, int axis, object extreme):
    """Of equal elements the last one is named, and of several NaN too."""
    if is_meta(<PyObject *>a):
        return fresh_beside(a, cnp.PyArray_TYPE(a), a.shape), fresh_beside(a, cnp.NPY_INT64, a.shape)
    if cnp.PyArray_NDIM(a) == 0:
        return a.copy(), np.zeros((), np.int64)
    values = extreme.accumulate(a, axis=axis)
    reached = a == values
    if a.dtype.kind == "f":
        reached |= np.isnan(a)
    numbers = np.arange(a.shape[axis]).reshape([-1 if d == axis else 1 for d in range(a.ndim)])
    return values, np.maximum.accumulate(np.where(reached, numbers, 0), axis=axis)


# ---- logarithms of sums

cpdef object logcumsumexp_of(object a, Py_ssize_t dim):
    cdef int axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    if a.dtype.kind != "f":
        raise NotImplementedError(f"logcumsumexp(): not defined for {a.dtype}; give a floating dtype")
    if is_meta(<PyObject *>a) or cnp.PyArray_NDIM(a) == 0:
        return fresh_beside(a, cnp.PyArray_TYPE(a), a.shape) if is_meta(<PyObject *>a) else a.copy()
    with np.errstate(all="ignore"):
        return np.logaddexp.accumulate(a, axis=axis)


# ---- norms

cpdef object p_norm_of(object a, object p, object dim, bint keepdim):
    """The p-norm along dimensions; of halves in float32."""
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    if a.dtype == np.float16:
        return p_norm_of(a.astype(np.float32), p, dim, keepdim).astype(np.float16)
    real = a.real.dtype
    if is_meta(<PyObject *>a):
        return np.sum(np.abs(a), axis=axes, keepdims=keepdim)
    with np.errstate(all="ignore"):
        size = np.abs(a)
        if (p < 0 or p == np.inf) and 0 in (a.shape if axes is None else [a.shape[axis] for axis in np.atleast_1d(axes)]):
            raise RuntimeError(f"norm(): the norm with p = {p} of no elements does not exist; size is {list(a.shape)}")
        if p == np.inf:
            return np.asarray(np.max(size, axis=axes, keepdims=keepdim))
        if p == -np.inf:
            return np.asarray(np.min(size, axis=axes, keepdims=keepdim))
        if p == 0:
            return np.asarray(np.sum(size != 0, axis=axes, keepdims=keepdim, dtype=real))
        if p == 1:
            return np.asarray(np.sum(size, axis=axes, keepdims=keepdim))
        if p == 2:
            return np.asarray(np.sqrt(np.sum(size * size, axis=axes, keepdims=keepdim)))
        return np.asarray(scaled_norm(size, p, axes, keepdim)).astype(real, copy=False)


cdef object scaled_norm(object size, object p, object axes, bint keepdim):
    """Divided by the greatest magnitude first, so that no power leaves the range of numbers."""
    if size.size == 0 or p < 0:
        return np.sum(size ** p, axis=axes, keepdims=keepdim) ** (1 / p)
    greatest = np.max(size, axis=axes, keepdims=True)
    scale = np.where((greatest > 0) & np.isfinite(greatest), greatest, 1).astype(size.dtype)
    total = np.sum((size / scale) ** p, axis=axes, keepdims=True) ** (1 / p) * scale
    return total if keepdim else total.reshape(np.sum(size, axis=axes).shape)
