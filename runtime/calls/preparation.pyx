"""Arguments whose dtype an op refuses, or converts. See the .pxd."""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.overlap cimport ranges_meet
from gradsmith.runtime.calls.arguments cimport is_tensor
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap

import numpy as np

from gradsmith.runtime.arrays.array import element_of
from gradsmith.runtime.arrays.dtypes import bool_, result_type

cnp.import_array()


cdef int type_of(object value) except -1:
    """The type number of a tensor's elements."""
    return cnp.PyArray_TYPE(<cnp.ndarray>(<TensorBase>value).array)


cdef bint is_bool(object value) except -1:
    return type_of(value) == cnp.NPY_BOOL if is_tensor(value) else value is True or value is False


cdef bint is_integral(object value) except -1:
    return is_tensor(value) and (cnp.PyTypeNum_ISINTEGER(type_of(value)) or type_of(value) == cnp.NPY_BOOL)


cdef object prepare_numeric(str op, object value):
    return refuse_bool(op) if is_bool(value) else value


cdef object refuse_bool(str op):
    raise NotImplementedError(f"{op}(): not defined for bool tensors; convert to an integer dtype first")


cdef object prepare_magnitude(str op, object value):
    if cnp.PyTypeNum_ISCOMPLEX(type_of(value)) and op.endswith("_"):
        raise RuntimeError(
            f"{op}(): In-place abs is not supported for complex tensors, whose magnitudes are real; use abs()"
        )
    return prepare_numeric(op, value)


cdef object prepare_compared(str op, object value, object other):
    return value.to(other.dtype) if is_integral(value) and not is_integral(other) else value


cdef object prepare_own_dtype(str op, object dtype, object target):
    if not op.endswith("_"):
        return dtype
    if dtype is not None and dtype != target.dtype:
        raise RuntimeError(f"{op}(): Bad in-place call: the tensor has dtype {target.dtype}, but dtype={dtype} was given")
    return target.dtype if is_integral(target) else dtype


cdef object prepare_clampable(str op, object value, object bound, object other=None):
    if not is_bool(value) or (bound is None and other is None):
        return value
    if not (bound is None or is_bool(bound)) or not (other is None or is_bool(other)):
        return value
    alone = bound is None or other is None
    return value if alone and is_tensor(other if bound is None else bound) else refuse_bool(op)


cdef object prepare_floating(str op, object value):
    if is_integral(value):
        raise NotImplementedError(f"{op}(): not defined for {value.dtype} tensors; convert to a floating dtype first")
    return value


cdef object prepare_bound(str op, object bound, object value):
    if not is_integral(value):
        return bound
    if bound < 0 and cnp.PyTypeNum_ISUNSIGNED(type_of(value)):
        raise RuntimeError(f"{op}(): a tensor of dtype {value.dtype} has no negative numbers, but a bound is {bound}")
    return int(bound)


# ---- sources and targets

cdef bint overlaps_in_part(object a, object b) except -1:
    """Not the same elements in the same order, nor a broadcast source, which is copied first."""
    return a.shape == b.shape and not (steps(a) == steps(b) and cnp.PyArray_DATA(a) == cnp.PyArray_DATA(b))


cdef list steps(object array):
    """The strides that matter: those of dimensions that have more than one place."""
    return [stride for stride, size in zip(array.strides, array.shape) if size > 1]


cdef object prepare_apart(str op, object source, object target):
    if not op.endswith("_") or not is_tensor(source) or source is target and op == "copy_":
        return source
    cdef cnp.ndarray a = <cnp.ndarray>(<TensorBase>source).array
    cdef cnp.ndarray b = <cnp.ndarray>(<TensorBase>target).array
    if is_meta(<PyObject *>a) or not ranges_meet(a, b):
        return source
    if op == "copy_" and not overlaps_in_part(a, b):
        return source
    if np.shares_memory(a, b):
        raise RuntimeError(
            f"{op}(): unsupported operation: some elements of the input tensor and of the written-to tensor refer to a "
            "single memory location. clone() the input before the write."
        )
    return source


cdef object prepare_parts_of_index(str op, object index):
    if type(index) is list and not all([isinstance(part, int) for part in index]):
        return tuple(index)
    return index


# ---- alpha

cdef bint is_usual(object value, object other, object alpha) except -1:
    """Tensors of one floating dtype, and a number that is large in none."""
    if not is_tensor(value) or not is_tensor(other) or type(alpha) not in (float, int):
        return False
    return type_of(value) == type_of(other) and type_of(value) in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) and abs(alpha) < 1e38


cdef object prepare_addend(str op, object value, object other, object alpha):
    if is_usual(value, other, alpha):
        return other
    dtype = result_type(value, other)
    check_alpha(op, alpha, dtype)
    if dtype == bool_ and not is_tensor(other):
        return wrap(np.asarray(other))      # Python's product of a bool with alpha would be an integer
    if is_integral(other) and other.dtype != dtype:
        return other.to(dtype)      # else the product with alpha would have a dtype of its own
    return other


cdef int check_alpha(str op, object alpha, object dtype) except -1:
    if isinstance(alpha, bool):
        if dtype != bool_:
            raise RuntimeError(f"{op}(): alpha may be a bool only when the result is; it is {dtype}")
    elif dtype.kind in "biu" and not isinstance(alpha, int):
        raise RuntimeError(f"{op}(): for integer tensors alpha must be an integer, but is {alpha}")
    elif dtype.kind == "f" and isinstance(alpha, complex):
        raise RuntimeError(f"{op}(): for real tensors alpha must be real, but is {alpha}")
    element_of(alpha, dtype)
    return 0


cdef object prepare_subtrahend(str op, object value, object other, object alpha):
    if is_bool(value) or is_bool(other):
        raise RuntimeError(
            f"{op}(): Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a "
            "mask, use the `~` or `logical_not()` operator instead"
        )
    return prepare_addend(op, value, other, alpha)


cdef object prepare_factor(str op, object value, object other, object alpha):
    return bool(alpha) if is_bool(value) and is_bool(other) else alpha
