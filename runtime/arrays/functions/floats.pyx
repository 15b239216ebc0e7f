"""Numbers and their parts: tests, replacements, mantissas, and complex numbers of two parts."""

from cpython.ref cimport PyObject
cimport numpy as cnp

from libc.math cimport INFINITY, fabs, isfinite

from gradsmith.runtime.arrays.array cimport ARCTAN2, binary, clone, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_of_sizes, take
from gradsmith.runtime.arrays.functions.shapes cimport broadcast_sizes

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.dtypes import bool_, complex64, complex128, result_type

cnp.import_array()

cdef enum:
    FEW = 256                   # elements that are looked at one by one


ctypedef fused part:
    float
    double

# Where differences are computed: in float16 they overflow, and integers wrap around.
WIDE = {np.dtype(name): np.dtype(np.float32 if name == "float16" else np.float64) for name in (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16"
)}


cdef tuple common_shape(str op, object a, object b):
    shape = broadcast_sizes(a, b)
    if shape is None:
        raise RuntimeError(f"{op}(): sizes {list(a.shape)} and {list(b.shape)} do not broadcast")
    return shape


# ---- tests

cpdef object isreal_of(object a):
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, bool_)
    return a.imag == 0 if a.dtype.kind == "c" else np.ones(a.shape, bool_)


cpdef object isclose_of(object a, object b, double rtol, double atol, bint equal_nan):
    """Equal, or no farther apart than the tolerances allow."""
    check_tolerances(a, b, rtol, atol)
    cdef tuple shape = common_shape("isclose", a, b)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>b):
        return array_without_data(shape, bool_)
    if are_plain_floats(a, b):
        return close_floats(a, b, rtol, atol, equal_nan)
    close = a == b
    if equal_nan and a.dtype.kind in "fc":
        close = close | (np.isnan(a) & np.isnan(b))
    if rtol == 0 and atol == 0:
        return np.asarray(close)
    wide = WIDE.get(a.dtype)
    with np.errstate(all="ignore"):
        apart = np.abs(np.subtract(a, b, dtype=wide))
        within = (apart <= atol + np.abs(rtol * b)) & np.isfinite(apart)
    return np.asarray(close | within)


cdef bint are_plain_floats(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Of one shape, their elements row by row, in float32 or float64? The dtype is one."""
    cdef int type_number = cnp.PyArray_TYPE(a)
    if type_number != cnp.NPY_FLOAT32 and type_number != cnp.NPY_FLOAT64:
        return False
    return cnp.PyArray_SAMESHAPE(a, b) and cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_ISCARRAY_RO(b)


cdef object close_floats(cnp.ndarray a, cnp.ndarray b, double rtol, double atol, bint equal_nan):
    cdef cnp.ndarray result = fresh_of_sizes(a, cnp.NPY_BOOL, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a))
    cdef const void *x = cnp.PyArray_DATA(a)
    cdef const void *y = cnp.PyArray_DATA(b)
    if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32:
        mark_close(<const float *>x, <const float *>y, rtol, atol, equal_nan, cnp.PyArray_DATA(result), a.size)
    else:
        mark_close(<const double *>x, <const double *>y, rtol, atol, equal_nan, cnp.PyArray_DATA(result), a.size)
    return result


cdef int mark_close(
    const part *x, const part *y, part rtol, part atol, bint equal_nan, void *result, Py_ssize_t count
) except -1:
    """Infinities are as far apart as can be, and NaN is nowhere."""
    cdef cnp.npy_bool *marks = <cnp.npy_bool *>result
    cdef part apart
    cdef Py_ssize_t i
    with nogil:
        for i in range(count):
            apart = fabs(x[i] - y[i])
            marks[i] = (
                (x[i] == y[i]) | ((apart <= atol + fabs(rtol * y[i])) & (apart < INFINITY))
                | (equal_nan & (x[i] != x[i]) & (y[i] != y[i]))
            )
    return 0


cdef int check_tolerances(object a, object b, double rtol, double atol) except -1:
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b):
        raise RuntimeError(f"isclose(): the tensors must have one dtype, but they have {a.dtype} and {b.dtype}")
    if not rtol >= 0 or not atol >= 0:
        name, value = ("atol", atol) if rtol >= 0 else ("rtol", rtol)
        raise RuntimeError(f"isclose(): {name} must be greater than or equal to zero, but got {value}")
    return 0


# ---- replacements

cpdef object nan_to_num_of(object a, object nan, object posinf, object neginf):
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, a.dtype)
    cdef int type_number = cnp.PyArray_TYPE(<cnp.ndarray>a)
    if (type_number == cnp.NPY_FLOAT32 or type_number == cnp.NPY_FLOAT64) and cnp.PyArray_SIZE(<cnp.ndarray>a) <= FEW:
        result = take(clone(<PyObject *>a))
        if are_finite(<cnp.ndarray>result):
            return result
    if a.dtype.kind not in "fc":
        return a.copy()
    result = np.array(a, order="K")
    replace_in(result.real, nan, posinf, neginf)
    if a.dtype.kind == "c":
        replace_in(result.imag, nan, posinf, neginf)
    return result


cdef bint are_finite(cnp.ndarray a) noexcept:
    """Of a dense array: the elements are looked at as they lie in memory."""
    cdef cnp.npy_intp i
    for i in range(cnp.PyArray_SIZE(a)):
        if cnp.PyArray_ITEMSIZE(a) == 4:
            if not isfinite((<float *>cnp.PyArray_DATA(a))[i]):
                return False
        elif not isfinite((<double *>cnp.PyArray_DATA(a))[i]):
            return False
    return True


cdef int replace_in(object part, object nan, object posinf, object neginf) except -1:
    """In place; of integers and where everything is finite there is nothing to do."""
    if np.isfinite(part).all():
        return 0
    limits = np.finfo(part.dtype)
    with np.errstate(over="ignore"):
        np.copyto(part, 0.0 if nan is None else nan, where=np.isnan(part), casting="unsafe")
        np.copyto(part, limits.max if posinf is None else posinf, where=part == np.inf, casting="unsafe")
        np.copyto(part, limits.min if neginf is None else neginf, where=part == -np.inf, casting="unsafe")
    return 0


# ---- mantissa and exponent

cpdef tuple frexp_of(object a):
    if a.dtype.kind != "f":
        raise RuntimeError(f"frexp(): only floating-point dtypes are supported, but got {a.dtype}")
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, a.dtype), array_without_data(a.shape, np.dtype(np.int32))
    return np.frexp(a)


# ---- complex numbers

cpdef object complex_of(object a, object b):
    cdef cnp.ndarray real = a, imag = b
    cdef int type_number = cnp.PyArray_TYPE(real)
    if type_number != cnp.NPY_FLOAT32 and type_number != cnp.NPY_FLOAT64:
        raise RuntimeError(f"complex(): expected float32 or float64 tensors, but got {real.dtype} and {imag.dtype}")
    if type_number != cnp.PyArray_TYPE(imag):
        raise RuntimeError(f"complex(): expected parts of one dtype, but got {real.dtype} and {imag.dtype}")
    dtype = complex64 if type_number == cnp.NPY_FLOAT32 else complex128
    if cnp.PyArray_SAMESHAPE(real, imag) and not is_meta(<PyObject *>real) and not is_meta(<PyObject *>imag):
        return joined(real, imag, dtype)
    cdef tuple shape = common_shape("complex", real, imag)
    if is_meta(<PyObject *>real) or is_meta(<PyObject *>imag):
        return array_without_data(shape, dtype)
    result = fresh(dtype.num, shape)
    result.real, result.imag = real, imag
    return result


cdef object joined(cnp.ndarray real, cnp.ndarray imag, cnp.dtype dtype):
    """Complex numbers row by row; the parts have one size."""
    cdef cnp.ndarray result = fresh_of_sizes(real, dtype.type_num, cnp.PyArray_NDIM(real), cnp.PyArray_DIMS(real))
    if not (cnp.PyArray_ISCARRAY_RO(real) and cnp.PyArray_ISCARRAY_RO(imag)):
        (<object>result).real, (<object>result).imag = real, imag
    elif dtype.type_num == cnp.NPY_COMPLEX64:
        interleave(<float *>cnp.PyArray_DATA(result), cnp.PyArray_DATA(real), cnp.PyArray_DATA(imag), real.size)
    else:
        interleave(<double *>cnp.PyArray_DATA(result), cnp.PyArray_DATA(real), cnp.PyArray_DATA(imag), real.size)
    return result


cdef int interleave(part *result, const void *real, const void *imag, Py_ssize_t count) except -1:
    cdef Py_ssize_t i
    with nogil:
        for i in range(count):
            result[2 * i] = (<const part *>real)[i]
            result[2 * i + 1] = (<const part *>imag)[i]
    return 0


cpdef object angle_of(object a):
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, a.real.dtype)
    cdef cnp.ndarray real = a.real, imag = a.imag
    return take(binary(ARCTAN2, <PyObject *>imag, <PyObject *>real))


cpdef object view_as_real_of(object a):
    if a.dtype.kind != "c":
        raise RuntimeError(f"view_as_real is only supported for complex tensors, but got {a.dtype}")
    part = np.dtype(f"f{a.itemsize // 2}")
    if is_meta(<PyObject *>a):
        return array_without_data((*a.shape, 2), part)
    return a[..., None].view(part)


cpdef object view_as_complex_of(object a):
    """Pairs along the last dimension as complex numbers: in the same memory where they lie side by side, else in a copy."""
    cdef tuple shape = a.shape
    cdef Py_ssize_t last = len(shape) - 1
    if cnp.PyArray_TYPE(a) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        raise RuntimeError(
            f"view_as_complex(): is only supported for float32 and float64 tensors, but got {a.dtype}; convert it first"
        )
    if last < 0 or shape[last] != 2:
        raise RuntimeError(f"view_as_complex(): needs a last dimension of size 2, but got self.shape = {shape}")
    kind = np.dtype(f"c{2 * a.itemsize}")
    if is_meta(<PyObject *>a):
        return array_without_data(shape[:last], kind)
    if cnp.PyArray_SIZE(a) == 0:
        return np.empty(shape[:last], kind)
    if a.flags.c_contiguous or not are_pairs(a, last):
        return np.ascontiguousarray(a).view(kind).reshape(shape[:last])
    return a.view(kind)[..., 0]


cdef bint are_pairs(object a, Py_ssize_t last) except -1:
    """Do the two parts of each number lie side by side, and the numbers at distances that strides of numbers can tell?"""
    cdef list steps = [step // a.itemsize for step in a.strides]
    return steps[last] == 1 and not any([n > 1 and step % 2 for n, step in zip(a.shape[:last], steps)])


cpdef object logaddexp_of(object a, object b):
    """`log(exp(a) + exp(b))` of complex numbers, of which the one with the smaller real part is added to the other."""
    cdef object dtype = result_type(a, b)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>b):
        return array_without_data(common_shape("logaddexp", a, b), dtype)
    with np.errstate(all="ignore"):
        low, high = np.where(a.real < b.real, a, b), np.where(a.real < b.real, b, a)
        found = high + np.log1p(np.exp(low - high))
        is_same = (low.real == high.real) & ~np.isfinite(low.real)
        found = np.where(is_same, np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high))), found)
        return np.where(np.isnan(low) | np.isnan(high), complex(np.nan, np.nan), found).astype(dtype, copy=False)


cpdef object bernoulli_of(object self, object p, object generator):
    """Ones, each with a probability of its own, and zeros."""
    if p.dtype.kind != "f":
        raise NotImplementedError(f"bernoulli_(): probabilities must be floating-point, but p has dtype {p.dtype}")
    if is_meta(<PyObject *>self) or is_meta(<PyObject *>p):
        return array_without_data(np.broadcast_shapes(self.shape, p.shape), self.dtype)
    if not np.all((p >= 0) & (p <= 1)):
        raise RuntimeError("bernoulli_ expects every element of p to be in [0, 1]")
    return (generator.random(self.shape) < p).astype(self.dtype)
