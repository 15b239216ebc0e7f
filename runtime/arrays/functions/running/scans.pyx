"""Running sums and products, and linear recurrences, along a dimension."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.float cimport DBL_EPSILON, DBL_MIN, FLT_EPSILON, FLT_MIN
from libc.math cimport INFINITY, M_LN2, NAN, atan2, cos, exp, expf, hypot, isinf, isnan, log, log1p, log1pf, sin
from libc.stdint cimport int64_t
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    ABSOLUTE,
    POWER,
    SQRT,
    SQUARE,
    amax_axes,
    amin_axes,
    binary_scalar,
    cast,
    clone_by_rows,
    is_meta,
    release_array,
    sum_axes,
    unary,
)
from gradsmith.runtime.arrays.functions.normalize cimport wrap_dim, wrapped_axes
from gradsmith.runtime.arrays.functions.ownership cimport fresh_beside, take

import numpy as np

from gradsmith.runtime.arrays.array import sum_of_squares
from gradsmith.runtime.arrays.complex_casts import real_where_kept

cnp.import_array()

cdef extern from "runtime/arrays/functions/running/scans_kernels.h" nogil:
    void gs_running_sums(int type, void *a, npy_intp outer, npy_intp length, npy_intp inner, bint reverse)
    void gs_running_products(int type, void *a, npy_intp outer, npy_intp length, npy_intp inner)
    void gs_recurrences(
        int type, void *a, const void *weights, npy_intp outer, npy_intp length, npy_intp inner, bint reverse)

cdef enum:
    LARGE = 4096            # elements from which on a loop lets other threads run
    MANY = 2048             # elements whose squares take longer to be kept than a call of a function

# Elements that have no loop in scans_kernels.c.
ctypedef fused number:
    float complex
    double complex
    int64_t

ctypedef fused real:
    float
    double

cdef struct Rows:
    npy_intp outer
    npy_intp length
    npy_intp inner


cdef Rows rows_of(object a, int axis) noexcept:
    """Sizes before, along and behind the axis."""
    cdef Rows rows = Rows(1, 1, 1)
    cdef int i
    for i in range(cnp.PyArray_NDIM(a)):
        if i < axis:
            rows.outer *= cnp.PyArray_DIM(a, i)
        elif i == axis:
            rows.length = cnp.PyArray_DIM(a, i)
        else:
            rows.inner *= cnp.PyArray_DIM(a, i)
    return rows


cdef object by_rows(object a, int axis):
    """A contiguous array of the shape (outer, length, inner)."""
    cdef Rows rows = rows_of(a, axis)
    return a.reshape(rows.outer, rows.length, rows.inner)


cdef object computed(object a):
    """In a dtype that there is a loop for."""
    cdef int type_number = cnp.PyArray_TYPE(a)
    if type_number == cnp.NPY_FLOAT16:
        return take(cast(<PyObject *>a, cnp.NPY_FLOAT32))
    if type_number == cnp.NPY_BOOL or cnp.PyTypeNum_ISINTEGER(type_number):
        return take(cast(<PyObject *>a, cnp.NPY_INT64))
    return a


cdef bint is_real(object a) noexcept:
    return cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64)


# ---- sums

cdef int add_along(object a, int axis, bint reverse) except -1:
    """Add to each slice along the axis all before it, in place; in reverse all behind it."""
    cdef Rows rows = rows_of(a, axis)
    cdef int type_number = cnp.PyArray_TYPE(a)
    cdef void *sums = cnp.PyArray_DATA(a)
    if type_number in (cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128):  # the parts are two columns
        rows.inner *= 2
        type_number = cnp.NPY_FLOAT32 if type_number == cnp.NPY_COMPLEX64 else cnp.NPY_FLOAT64
    if cnp.PyArray_SIZE(a) < LARGE:
        gs_running_sums(type_number, sums, rows.outer, rows.length, rows.inner, reverse)
        return 0
    with nogil:
        gs_running_sums(type_number, sums, rows.outer, rows.length, rows.inner, reverse)
    return 0


# ---- products

cpdef object cumprod_of(object a, Py_ssize_t dim, object dtype):
    cdef int axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    wanted = dtype if dtype is not None else (np.dtype(np.int64) if a.dtype.kind in "biu" else a.dtype)
    if wanted.kind == "b" and cnp.PyArray_NDIM(a) and cnp.PyArray_SIZE(a):
        raise NotImplementedError("cumprod(): not defined for dtype bool; give an integer dtype, such as int64")
    if is_meta(<PyObject *>a):
        return fresh_beside(a, wanted.num, a.shape)
    if is_real(a) and wanted.num == cnp.PyArray_TYPE(a):
        products = take(clone_by_rows(<PyObject *>a))
        multiply_along(products, axis)
        return products
    if wanted.num != cnp.PyArray_TYPE(a):
        with np.errstate(all="ignore"):
            a = real_where_kept(a, wanted).astype(wanted, copy=False)
    a = computed(a)
    products = take(clone_by_rows(<PyObject *>a))
    multiply_along(products, axis)
    return take(cast(<PyObject *>products, wanted.num))


cdef int multiply_along(object a, int axis) except -1:
    cdef Rows rows = rows_of(a, axis)
    cdef int type_number = cnp.PyArray_TYPE(a)
    cdef void *products = cnp.PyArray_DATA(a)
    if cnp.PyArray_SIZE(a) < LARGE:
        gs_running_products(type_number, products, rows.outer, rows.length, rows.inner)
        return 0
    with nogil:
        gs_running_products(type_number, products, rows.outer, rows.length, rows.inner)
    return 0


# ---- recurrences

cpdef object recurrence_of(object a, object weight, Py_ssize_t dim):
    """``r[k] = a[k] + weight[k] * r[k - 1]``; the first weight is not used."""
    return recurred("recurrence", a, weight, dim, False)


cpdef object recurrence_reversed_of(object a, object weight, Py_ssize_t dim):
    """``r[k] = a[k] + weight[k + 1] * r[k + 1]``."""
    return recurred("recurrence_reversed", a, weight, dim, True)


cdef object recurred(str op, object a, object weight, Py_ssize_t dim, bint reverse):
    cdef int axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    if a.shape != weight.shape:
        raise RuntimeError(f"{op}(): sizes {list(a.shape)} and {list(weight.shape)} differ")
    dtype = np.promote_types(a.dtype, weight.dtype)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>weight):
        return fresh_beside(a, dtype.num, a.shape)
    a = computed(a.astype(dtype, copy=False))
    values = take(clone_by_rows(<PyObject *>a))
    weights = np.ascontiguousarray(weight, values.dtype)
    if is_real(values):
        recur_along(values, weights, axis, reverse)
    elif reverse and cnp.PyArray_NDIM(a):
        add_weighted(by_rows(values, axis)[:, ::-1], by_rows(np.roll(weights, -1, axis), axis)[:, ::-1])
    else:
        add_weighted(by_rows(values, axis), by_rows(weights, axis))
    return take(cast(<PyObject *>values, dtype.num))


cdef int recur_along(object a, object weights, int axis, bint reverse) except -1:
    cdef Rows rows = rows_of(a, axis)
    cdef int type_number = cnp.PyArray_TYPE(a)
    cdef void *values = cnp.PyArray_DATA(a)
    cdef const void *factors = cnp.PyArray_DATA(weights)
    with nogil:
        gs_recurrences(type_number, values, factors, rows.outer, rows.length, rows.inner, reverse)
    return 0


def add_weighted(number[:, :, :] rows, const number[:, :, :] weights):
    cdef npy_intp i, j, k
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(1, rows.shape[1]):
                for k in range(rows.shape[2]):
                    rows[i, j, k] = rows[i, j, k] + weights[i, j, k] * rows[i, j - 1, k]


# ---- logarithms of sums

cpdef object logcumsumexp_of(object a, Py_ssize_t dim):
    cdef int axis = wrap_dim(dim, cnp.PyArray_NDIM(a))
    cdef int type_number = cnp.PyArray_TYPE(a)
    if not (cnp.PyTypeNum_ISFLOAT(type_number) or cnp.PyTypeNum_ISCOMPLEX(type_number)):
        raise NotImplementedError(f"logcumsumexp(): not defined for {a.dtype}; give a floating dtype")
    if is_meta(<PyObject *>a) or cnp.PyArray_NDIM(a) == 0:
        return fresh_beside(a, cnp.PyArray_TYPE(a), a.shape) if is_meta(<PyObject *>a) else a.copy()
    if is_real(a):
        return real_logcumsumexp(a, axis)
    with np.errstate(all="ignore"):
        return complex_logcumsumexp(a, axis) if cnp.PyTypeNum_ISCOMPLEX(type_number) else np.logaddexp.accumulate(a, axis=axis)


cdef object real_logcumsumexp(object a, int axis):
    found = take(clone_by_rows(<PyObject *>a))
    cdef Rows rows = rows_of(found, axis)
    cdef bint is_float = cnp.PyArray_TYPE(found) == cnp.NPY_FLOAT32
    cdef void *sums = cnp.PyArray_DATA(found)
    if cnp.PyArray_SIZE(found) < LARGE // 16:       # a logarithm takes as long as many sums
        run_exponentials(&rows, sums, is_float)
    else:
        with nogil:
            run_exponentials(&rows, sums, is_float)
    return found


cdef void run_exponentials(const Rows *rows, void *sums, bint is_float) noexcept nogil:
    if is_float:
        add_exponentials[float](rows, <float *>sums)
    else:
        add_exponentials[double](rows, <double *>sums)


cdef void add_exponentials(const Rows *rows, real *sums) noexcept nogil:
    """The logarithm of the sum of the exponentials of each element and all before it, in place."""
    cdef npy_intp o, i
    for o in range(rows.outer):
        for i in range(rows.inner, rows.length * rows.inner):
            sums[i] = log_of_both(sums[i - rows.inner], sums[i])
        sums += rows.length * rows.inner


cdef inline real log_of_both(real x, real y) noexcept nogil:
    """``np.logaddexp``, relative to the greater one."""
    cdef real difference = x - y
    if x == y:                  # infinities too
        return x + <real>M_LN2
    if difference > 0:
        return x + log_of_one_and_exp(-difference)
    if difference <= 0:
        return y + log_of_one_and_exp(difference)
    return difference           # NaN


cdef inline real log_of_one_and_exp(real x) noexcept nogil:
    return log1pf(expf(x)) if real is float else log1p(exp(x))


cdef object complex_logcumsumexp(object a, int axis):
    """Step by step, since each logarithm follows the branch of the one before, as PyTorch's does."""
    found = np.array(np.moveaxis(a, axis, -1), np.complex128, order="C")
    cdef cnp.ndarray parts = found.view(np.float64)
    cdef double *row = <double *>cnp.PyArray_DATA(parts)
    cdef Py_ssize_t n = np.shape(found)[np.ndim(found) - 1], i, j
    for i in range(found.size // n if n else 0):
        for j in range(1, n):
            add_exponential(row + 2 * j - 2, row + 2 * j)
        row += 2 * n
    return np.ascontiguousarray(np.moveaxis(found, -1, axis), a.dtype)


cdef int add_exponential(double *sum, double *x) except -1:
    """x = log(exp(sum) + exp(x)) of complex numbers, relative to the greater one."""
    cdef double *less = sum if sum[0] < x[0] else x
    cdef double *more = x if sum[0] < x[0] else sum
    cdef double scale, turn, real, imaginary, square
    if isnan(sum[0]) or isnan(sum[1]) or isnan(x[0]) or isnan(x[1]):
        x[0] = x[1] = NAN
    elif less[0] == more[0] and isinf(less[0]):
        x[0], x[1] = sum_of_infinite(less[0], less[1], more[1])
    else:
        scale, turn = exp(less[0] - more[0]), less[1] - more[1]
        real, imaginary = scale * cos(turn), scale * sin(turn)
        turn = atan2(imaginary, 1 + real)
        square = real * (2 + real) + imaginary * imaginary      # of the magnitude of 1 + both, less 1
        real = 0.5 * log1p(square) if scale < 0.5 else log(hypot(1 + real, imaginary))
        x[0], x[1] = more[0] + real, more[1] + turn
    return 0


cdef tuple sum_of_infinite(double real, double one, double other):
    """Of -inf the angle cannot be told, and does not matter."""
    if real < 0:
        return real, one
    found = np.log(np.exp(complex(real, one)) + np.exp(complex(real, other)))
    return found.real, found.imag


# ---- norms

cpdef object p_norm_of(object a, object p, object dim, bint keepdim):
    """The p-norm along dimensions, of floating and complex numbers; of halves in float32."""
    axes = wrapped_axes(dim, cnp.PyArray_NDIM(a))
    cdef int type_number = cnp.PyArray_TYPE(a)
    if is_meta(<PyObject *>a):
        return np.sum(np.abs(a), axis=axes, keepdims=keepdim)
    if type_number == cnp.NPY_FLOAT16:
        wide = p_norm_of(computed(a), p, dim, keepdim)
        return take(cast(<PyObject *>wide, cnp.NPY_FLOAT16))
    if is_undefined(a, p, axes):
        raise RuntimeError(f"norm(): the norm with p = {p} of no elements does not exist; size is {list(a.shape)}")
    magnitudes = take(unary(ABSOLUTE, <PyObject *>a)) if cnp.PyTypeNum_ISCOMPLEX(type_number) else a
    if p == 0:
        return np.asarray(np.sum(magnitudes != 0, axis=axes, keepdims=keepdim, dtype=magnitudes.dtype))
    if p == 1 or p == 2:
        return usual_norm(magnitudes, p == 2, axes, keepdim)
    return norm_of_magnitudes(take(unary(ABSOLUTE, <PyObject *>magnitudes)), p, axes, keepdim)


cdef bint is_undefined(object a, double p, object axes) except -1:
    """Is it the greatest or least magnitude, or the like, of no elements?"""
    if cnp.PyArray_SIZE(a) != 0 or not (p < 0 or p == INFINITY):
        return False
    return 0 in (a.shape if axes is None else [a.shape[axis] for axis in np.atleast_1d(axes)])


cdef object norm_of_magnitudes(object a, double p, object axes, bint keepdim):
    if p == INFINITY:
        return take(amax_axes(<PyObject *>a, axes, keepdim))
    if p == -INFINITY:
        return take(amin_axes(<PyObject *>a, axes, keepdim))
    powers = take(binary_scalar(POWER, <PyObject *>a, p, False))
    total = take(sum_axes(<PyObject *>powers, axes, keepdim))
    if p > 0 and has_left_range(total, a, axes):
        with np.errstate(all="ignore"):
            return np.asarray(scaled_norm(a, p, axes, keepdim)).astype(a.dtype, copy=False)
    return take(binary_scalar(POWER, <PyObject *>total, 1 / p, False))


cdef object usual_norm(object a, bint is_euclidean, object axes, bint keepdim):
    """Of real numbers, without Python and on several threads: the sum of magnitudes, or the root of that of squares."""
    total = sum_of_powers(a, is_euclidean, axes, keepdim)
    if is_euclidean and has_left_range(total, a, axes):
        with np.errstate(all="ignore"):
            return np.asarray(scaled_norm(np.abs(a), 2, axes, keepdim)).astype(a.dtype, copy=False)
    return take(unary(SQRT, <PyObject *>total)) if is_euclidean else total


cdef object sum_of_powers(object a, bint is_euclidean, object axes, bint keepdim):
    """The sum of squares or magnitudes; many squares that lie side by side are never kept."""
    if is_euclidean and is_side_by_side(a):
        return sum_of_squares(a, axes, keepdim)
    cdef PyObject *parts = unary(SQUARE if is_euclidean else ABSOLUTE, <PyObject *>a)
    try:
        return take(sum_axes(parts, axes, keepdim))
    finally:
        release_array(parts)        # it serves the next result of its size, without page faults


cdef bint has_left_range(object total, object a, object axes) except -1:
    """Is a sum of squares infinite, or so small that they have lost digits, as those of numbers near 1e-160 have?

    Where it is zero the sum of magnitudes tells whether all of them were.
    """
    cdef bint is_single = cnp.PyArray_TYPE(total) == cnp.NPY_FLOAT32
    cdef double least = FLT_MIN / FLT_EPSILON if is_single else DBL_MIN / DBL_EPSILON
    if not total.flags.c_contiguous:
        total = np.ascontiguousarray(total)
    cdef void *sums = cnp.PyArray_DATA(total)
    cdef npy_intp n = cnp.PyArray_SIZE(total)
    if leaves_range(<float *>sums, n, least) if is_single else leaves_range(<double *>sums, n, least):
        return True
    if not (has_zero(<float *>sums, n) if is_single else has_zero(<double *>sums, n)):
        return False
    magnitudes = np.sum(np.abs(a), axis=axes)
    return bool(np.any(magnitudes.reshape(total.shape)[total == 0]))


cdef bint leaves_range(real *sums, npy_intp n, double least) noexcept:
    cdef npy_intp i
    for i in range(n):
        if 0 < sums[i] < least or isinf(sums[i]):
            return True
    return False


cdef bint has_zero(real *sums, npy_intp n) noexcept:
    cdef npy_intp i
    for i in range(n):
        if sums[i] == 0:
            return True
    return False


cdef bint is_side_by_side(cnp.ndarray a) noexcept:
    """And are they many?"""
    if cnp.PyArray_SIZE(a) < MANY or not cnp.PyArray_ISBEHAVED_RO(a):
        return False
    return cnp.PyArray_IS_C_CONTIGUOUS(a) or cnp.PyArray_IS_F_CONTIGUOUS(a)


cdef object scaled_norm(object size, object p, object axes, bint keepdim):
    """Divided by the greatest magnitude first, so that no power leaves the range of numbers."""
    if size.size == 0 or p < 0:
        return np.sum(size ** p, axis=axes, keepdims=keepdim) ** (1 / p)
    greatest = np.max(size, axis=axes, keepdims=True)
    scale = np.where((greatest > 0) & np.isfinite(greatest), greatest, 1).astype(size.dtype)
    total = np.sum((size / scale) ** p, axis=axes, keepdims=True) ** (1 / p) * scale
    return total if keepdim else total.reshape(np.sum(size, axis=axes).shape)
