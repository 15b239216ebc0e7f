"""Elementwise functions that are neither a ufunc of NumPy nor an expression of others, and copies."""

from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.math cimport erf
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    ADD,
    FLOOR_DIVIDE,
    MULTIPLY,
    RINT,
    TRUE_DIVIDE,
    TRUNC,
    binary,
    binary_scalar,
    binary_scalar_into,
    cast,
    clone,
    clone_by_rows,
    default_type,
    is_meta,
    unary,
    unary_into,
    where,
)
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, take
from gradsmith.runtime.arrays.functions.shapes cimport broadcast_dims

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, element_of, wrapped_element
from gradsmith.runtime.arrays.device import META
from gradsmith.runtime.arrays.dtypes import get_default_dtype, result_type
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object complex_casts = LazyModule("gradsmith.runtime.arrays.complex_casts")
cdef object masks = LazyModule("gradsmith.runtime.arrays.masks")

cnp.import_array()

cdef enum:
    MOST_DIGITS = 400       # ten to this power is infinite

cdef extern from "math.h":
    float erff(float) noexcept nogil


cdef int require_array(object a) except -1:
    """The kernels look at nothing but the fields of an ndarray."""
    if not cnp.PyArray_Check(a):
        raise TypeError(f"expected an ndarray, got {type(a).__name__}")
    return 0


# ---- functions of floats

cpdef object floating_of(object function, object a):
    """A function that knows float32 and float64: of integers in the default dtype, of float16 by way of float32."""
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, get_default_dtype() if a.dtype.kind in "biu" else a.dtype)
    if a.dtype.kind in "biu":
        return np.asarray(function(take(cast(<PyObject *>a, default_type()))))
    result = np.asarray(function(a))        # of an array without dimensions it may be a scalar
    return take(cast(<PyObject *>result, cnp.PyArray_TYPE(a)))


# ---- where

cpdef object where_of(object condition, object a, object b):
    if cnp.PyArray_TYPE(condition) != cnp.NPY_BOOL:
        condition = masks.as_mask("where", condition)
    if not (isinstance(a, cnp.ndarray) and isinstance(b, cnp.ndarray)):
        a, b = promoted(a, b, storable)
    check_broadcast("where", condition, a, b)
    return take(where(<PyObject *>condition, <PyObject *>a, <PyObject *>b))


cdef tuple promoted(object a, object b, object element):
    """A number beside an array has no dtype of its own but its category; `element` makes an array of it."""
    cdef bint a_is_array = isinstance(a, cnp.ndarray), b_is_array = isinstance(b, cnp.ndarray)
    if a_is_array and b_is_array and cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(b):
        return a, b
    if a_is_array and not b_is_array and is_of_category(b, cnp.PyArray_TYPE(a)):
        return a, element(b, a.dtype)
    if b_is_array and not a_is_array and is_of_category(a, cnp.PyArray_TYPE(b)):
        return element(a, b.dtype), b
    dtype = result_type(a, b)
    return in_dtype(a, dtype, element), in_dtype(b, dtype, element)


cdef bint is_of_category(object number, int type_number) noexcept:
    """Is it an int, or a float beside floating or complex numbers, which leave an array its dtype?"""
    if cnp.PyTypeNum_ISFLOAT(type_number) or cnp.PyTypeNum_ISCOMPLEX(type_number):
        return PyFloat_CheckExact(number) or PyLong_CheckExact(number)
    return cnp.PyTypeNum_ISINTEGER(type_number) and PyLong_CheckExact(number)


cdef object in_dtype(object value, object dtype, object element):
    return take(cast(<PyObject *>value, dtype.num)) if isinstance(value, cnp.ndarray) else element(value, dtype)


def storable(number, dtype):
    """A number as an element; what becomes infinite in float16 is no error, as in PyTorch."""
    return (wrapped_element if dtype == np.float16 else element_of)(number, dtype)


cdef int check_broadcast(str op, object a, object b, object c) except -1:
    cdef npy_intp dims[MAX_DIMS]
    cdef int ndim = broadcast_dims(b, dims, broadcast_dims(a, dims, 0))
    if ndim < 0 or broadcast_dims(c, dims, ndim) < 0:
        raise RuntimeError(f"{op}(): sizes {list(a.shape)}, {list(b.shape)} and {list(c.shape)} do not broadcast")
    return 0


# ---- erf

cpdef object erf_of(object a):
    """The error function, which NumPy has not."""
    require_array(a)
    cdef int type_number = cnp.PyArray_TYPE(a)
    if cnp.PyTypeNum_ISCOMPLEX(type_number):
        raise NotImplementedError(f"erf() is not defined for {a.dtype}")
    if is_meta(<PyObject *>a):
        return floating_of(erf_of, a)
    if type_number == cnp.NPY_FLOAT16:
        wide = erf_of(take(cast(<PyObject *>a, cnp.NPY_FLOAT32)))
        return take(cast(<PyObject *>wide, cnp.NPY_FLOAT16))
    if type_number != cnp.NPY_FLOAT32 and type_number != cnp.NPY_FLOAT64:
        a = take(cast(<PyObject *>a, default_type()))
        return erf_of(a)
    result = take(clone(<PyObject *>a))
    put_erf(result)
    return result


cdef int put_erf(object a) except -1:
    """In place, for an array without gaps."""
    cdef npy_intp count = cnp.PyArray_SIZE(a)
    cdef char *elements = cnp.PyArray_BYTES(a)
    cdef npy_intp i
    if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32:
        with nogil:
            for i in range(count):
                (<float *>elements)[i] = erff((<float *>elements)[i])
    else:
        with nogil:
            for i in range(count):
                (<double *>elements)[i] = erf((<double *>elements)[i])
    return 0


# ---- division with rounding

cpdef object rounded_div_of(object a, object b, object rounding_mode):
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(f"div(): rounding_mode must be None, 'trunc' or 'floor', but got {rounding_mode!r}")
    a, b = promoted(a, b, wrapped_element)
    cdef int type_number = cnp.PyArray_TYPE(a)
    check_divisor(a, b, type_number)
    if rounding_mode is None:
        return take(binary(TRUE_DIVIDE, <PyObject *>a, <PyObject *>b))
    if cnp.PyTypeNum_ISFLOAT(type_number) and rounding_mode == "trunc":
        quotient = take(binary(TRUE_DIVIDE, <PyObject *>a, <PyObject *>b))
        return take(unary(TRUNC, <PyObject *>quotient))
    quotient = take(binary(FLOOR_DIVIDE, <PyObject *>a, <PyObject *>b))
    if cnp.PyTypeNum_ISSIGNED(type_number) and rounding_mode == "trunc":
        inexact = np.multiply(quotient, b) != a
        correction = np.asarray(inexact & ((a < 0) != (b < 0)))
        return take(binary(ADD, <PyObject *>quotient, <PyObject *>correction))
    return quotient


cdef int check_divisor(object a, object b, int type_number) except -1:
    if cnp.PyTypeNum_ISINTEGER(type_number) and cnp.PyArray_SIZE(a) and not np.all(b):
        raise RuntimeError("ZeroDivisionError: an integer cannot be divided by zero")
    if cnp.PyTypeNum_ISCOMPLEX(type_number):
        raise NotImplementedError("div() with a rounding_mode is not defined for complex numbers")
    return 0


# ---- rounding to digits

cpdef object rounded_of(object a, object decimals):
    """Half to even, as NumPy does; float16 by way of float32, whose powers of ten do not overflow."""
    cdef int type_number = cnp.PyArray_TYPE(a)
    if not cnp.PyTypeNum_ISFLOAT(type_number):
        raise NotImplementedError(f"round(): decimals are not defined for {a.dtype} tensors; convert to a floating dtype first")
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, a.dtype)
    wide = take(cast(<PyObject *>a, cnp.NPY_FLOAT32)) if type_number == cnp.NPY_FLOAT16 else a
    if decimals == 0:
        found = take(unary(RINT, <PyObject *>wide))
    else:
        found = rounded_to(wide, decimals)
    return take(cast(<PyObject *>found, type_number))


cdef object rounded_to(object a, object decimals):
    """As NumPy does it: times a power of ten, rounded, divided by it; or the other way round before the point."""
    cdef bint is_behind = decimals > 0
    cdef double power = 1
    for _ in range(min(abs(decimals), MOST_DIGITS)):
        power *= 10
    cdef PyObject *found = binary_scalar(MULTIPLY if is_behind else TRUE_DIVIDE, <PyObject *>a, power, False)
    result = take(found)
    unary_into(RINT, found, found)
    binary_scalar_into(TRUE_DIVIDE if is_behind else MULTIPLY, found, power, False, found)
    return result


# ---- copies and parts

cpdef object clone_of(object a):
    require_array(a)
    return a if is_meta(<PyObject *>a) else take(clone(<PyObject *>a))


cpdef object clone_by_rows_of(object a):
    require_array(a)
    return a if is_meta(<PyObject *>a) else take(clone_by_rows(<PyObject *>a))


cpdef object clone_in_order_of(object a, object order):
    """With the dimensions in memory in an order that is given, the outermost first."""
    if sorted(order) != list(range(a.ndim)):
        raise RuntimeError(f"clone_in_order(): {list(order)} is no order of {a.ndim} dimensions")
    if is_meta(<PyObject *>a):
        return a
    strides, step = [0] * a.ndim, a.itemsize
    for dim in reversed(order):
        strides[dim], step = step, step * max(a.shape[dim], 1)
    model = np.lib.stride_tricks.as_strided(np.empty(1, a.dtype), a.shape, strides)
    result = np.empty_like(model, order="K", subok=False)
    np.copyto(result, a)
    return result


cpdef object to_copy_of(object a, object dtype):
    """Copy in another dtype, also when it is the same one."""
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, dtype)
    if cnp.PyArray_TYPE(a) == dtype.num:
        return take(clone(<PyObject *>a))
    if a.dtype.kind == "c" and dtype.kind in "biuf":
        # A copy, also where the parts have the dtype already.
        return complex_casts.real_where_kept(a, dtype).astype(dtype)
    return take(cast(<PyObject *>a, dtype.num))


cpdef object copy_to_of(object a, object device, object dtype):
    """Copy in a dtype on a device."""
    if device is META:
        return array_without_data(a.shape, dtype)
    if is_meta(<PyObject *>a):
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return to_copy_of(a, dtype)


cpdef object stored_of(object value, object dtype):
    """A value to be written to a tensor of a dtype: an array as it is, a number if it fits."""
    return value if isinstance(value, cnp.ndarray) else element_of(value, dtype)


cpdef object copied_of(object value, object dtype):
    """A value to be copied to a tensor of a dtype. A number is converted as a tensor would be, with loss."""
    if not isinstance(value, cnp.ndarray) and (not isinstance(value, int) or -2**63 <= value < 2**63):
        return np.asarray(value)
    return stored_of(value, dtype)


cpdef object filling_of(object value, object dtype):
    """The one value of a fill, as an array without dimensions. A number has to fit."""
    array = stored_of(value, dtype)
    if array.ndim:
        raise RuntimeError(
            f"fill_(): the value must be a number or a 0-dimensional tensor, but has size {list(array.shape)}"
        )
    return array


class NoImaginaryPart(RuntimeError, AttributeError):
    """PyTorch's error, which says of the property that it is not there: protocols of Python ask with `hasattr`."""


cpdef object imag_of(object a):
    if a.dtype.kind != "c":
        raise NoImaginaryPart(f"imag is not defined for tensors with non-complex dtypes, but got {a.dtype}")
    return a.imag
