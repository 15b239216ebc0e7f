"""Elementwise functions that are neither a ufunc of NumPy nor an expression of others, and copies."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.math cimport erf
from numpy cimport npy_intp

from gradsmith.runtime.array cimport cast, clone, contiguous, default_type, empty_like_array, is_meta, where
from gradsmith.runtime.functions.ownership cimport take

import numpy as np

from gradsmith.runtime.array import array_without_data
from gradsmith.runtime.device import META
from gradsmith.runtime.dtypes import number_dtype, result_type

cnp.import_array()

cdef extern from "math.h":
    float erff(float) noexcept nogil


cdef object as_array(object value):
    """An operand as an array; a number becomes one without dimensions, which is weak in promotion."""
    if isinstance(value, np.ndarray):
        return value
    return np.asarray(value, number_dtype(value))


# ---- functions of floats

cpdef object floating_of(object function, object a):
    """A function that knows float32 and float64: of integers in the default dtype, of float16 by way of float32."""
    if a.dtype.kind in "biu":
        return function(take(cast(<PyObject *>a, default_type())))
    return function(a).astype(a.dtype, copy=False)


# ---- where

cpdef object where_of(object condition, object a, object b):
    if condition.dtype.kind != "b":
        raise RuntimeError(f"where(): the condition must be a bool tensor, but is {condition.dtype}")
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        a, b = promoted(a, b)
    check_broadcast("where", condition, a, b)
    return take(where(<PyObject *>condition, <PyObject *>a, <PyObject *>b))


cdef tuple promoted(object a, object b):
    """A number beside an array has no dtype of its own but its category."""
    dtype = result_type(a, b)
    return np.asarray(a, dtype), np.asarray(b, dtype)


cdef int check_broadcast(str op, object a, object b, object c) except -1:
    if a.shape == b.shape and b.shape == c.shape:
        return 0
    try:
        np.broadcast_shapes(a.shape, b.shape, c.shape)
    except ValueError:
        raise RuntimeError(
            f"{op}(): sizes {list(a.shape)}, {list(b.shape)} and {list(c.shape)} do not broadcast"
        ) from None
    return 0


# ---- erf

cpdef object erf_of(object a):
    """The error function, which NumPy has not."""
    cdef int type_number = cnp.PyArray_TYPE(a)
    if cnp.PyTypeNum_ISCOMPLEX(type_number):
        raise NotImplementedError(f"erf() is not defined for {a.dtype}")
    if type_number == cnp.NPY_FLOAT16:
        return erf_of(a.astype(np.float32)).astype(np.float16)
    if type_number != cnp.NPY_FLOAT32 and type_number != cnp.NPY_FLOAT64:
        a = take(cast(<PyObject *>a, default_type()))
        return erf_of(a)
    a = take(contiguous(<PyObject *>a))
    result = take(empty_like_array(<PyObject *>a))
    fill_erf(a, result)
    return result


cdef int fill_erf(object a, object result) except -1:
    cdef npy_intp count = cnp.PyArray_SIZE(a)
    cdef const char *source = cnp.PyArray_BYTES(a)
    cdef char *target = cnp.PyArray_BYTES(result)
    cdef npy_intp i
    if cnp.PyArray_TYPE(a) == cnp.NPY_FLOAT32:
        with nogil:
            for i in range(count):
                (<float *>target)[i] = erff((<const float *>source)[i])
    else:
        with nogil:
            for i in range(count):
                (<double *>target)[i] = erf((<const double *>source)[i])
    return 0


# ---- division with rounding

cpdef object rounded_div_of(object a, object b, object rounding_mode):
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(f"div(): rounding_mode must be None, 'trunc' or 'floor', but got {rounding_mode!r}")
    a, b = promoted(a, b)
    check_divisor(b)
    with np.errstate(all="ignore"):
        if rounding_mode is None:
            return true_quotient(a, b)
        if a.dtype.kind == "f":
            return np.asarray(np.floor_divide(a, b) if rounding_mode == "floor" else np.trunc(np.true_divide(a, b)))
        return np.asarray(integer_quotient(a, b, rounding_mode))


cdef object true_quotient(object a, object b):
    if a.dtype.kind not in "fc":
        a = take(cast(<PyObject *>a, default_type()))
        b = take(cast(<PyObject *>b, default_type()))
    return np.asarray(np.true_divide(a, b))


cdef object integer_quotient(object a, object b, str rounding_mode):
    quotient = np.floor_divide(a, b)
    if rounding_mode == "floor" or a.dtype.kind != "i":
        return quotient
    inexact = np.multiply(quotient, b) != a
    return quotient + (inexact & ((a < 0) != (b < 0)))


cdef int check_divisor(object b) except -1:
    if b.dtype.kind in "iu" and not np.all(b):
        raise RuntimeError("ZeroDivisionError: an integer cannot be divided by zero")
    if b.dtype.kind == "c":
        raise NotImplementedError("div() with a rounding_mode is not defined for complex numbers")
    return 0


# ---- copies and parts

cpdef object clone_of(object a):
    return a if is_meta(<PyObject *>a) else take(clone(<PyObject *>a))


cpdef object to_copy_of(object a, object dtype):
    """Copy in another dtype, also when it is the same one."""
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, dtype)
    if cnp.PyArray_TYPE(a) == dtype.num:
        return take(clone(<PyObject *>a))
    return take(cast(<PyObject *>a, dtype.num))


cpdef object copy_to_of(object a, object device, object dtype):
    """Copy in a dtype on a device."""
    if device is META:
        return array_without_data(a.shape, dtype)
    if is_meta(<PyObject *>a):
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return to_copy_of(a, dtype)


cpdef object filling_of(object value):
    """The one value of a fill, as an array without dimensions."""
    array = np.asarray(value)
    if array.ndim:
        raise RuntimeError(
            f"fill_(): the value must be a number or a 0-dimensional tensor, but has size {list(array.shape)}"
        )
    return array


cpdef object imag_of(object a):
    if a.dtype.kind != "c":
        raise RuntimeError(f"imag is not defined for tensors with non-complex dtypes, but got {a.dtype}")
    return a.imag
