"""Small new tensors without Python: what most calls of creation functions ask for.

Each function gives None where there is more to do, and its caller goes on as ever: for sizes that are not of ints, a
dtype that has to be looked up, the meta device, a trace, `vmap`, and for so many elements that they cost more than a call.
"""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLong, PyLong_CheckExact
from cpython.ref cimport PyObject
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, ceil, fabs
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_int64, npy_intp

from gradsmith.runtime.arrays.array cimport (
    binary_scalar,
    cast,
    default_type,
    empty_array,
    full_array,
    is_meta,
    POWER,
    release_array,
)
from gradsmith.runtime.batching.batch cimport living
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap_owned

import numpy as np

from gradsmith.runtime.arrays import device as devices

cnp.import_array()

cdef object DOUBLE = np.dtype(np.float64)
cdef object DEVICE = devices.device

cdef enum:
    MOST_DIMS = 8
    MOST_ELEMENTS = 1 << 14         # zeros by the million come faster from NumPy
    MOST_UNFILLED = 1 << 20
    TYPES = 64
    MOST = 1 << 24      # up to here int64, float32 and float64 hold all whole numbers

# By NumPy's number of a type: is it one that tensors have, and may it require grad?
cdef bint[TYPES] known
cdef bint[TYPES] differentiable
for name in (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
):
    known[np.dtype(name).num] = True
    differentiable[np.dtype(name).num] = np.dtype(name).kind in "fc"


def filled(tuple size not None, value, dtype, device, requires_grad):
    """Tensor of one value, of the default dtype unless another is given; uninitialised where the value is None."""
    if not is_flag(requires_grad):
        return None
    return made(size, value, type_of(dtype, default_type()), device, requires_grad)


def full(size, value, dtype, device, requires_grad):
    """The same of a number that the dtype holds; the dtype is that of the number unless another is given."""
    if not is_flag(requires_grad) or not isinstance(size, (tuple, list)):
        return None
    cdef int type_num = type_of(dtype, cnp.NPY_INT64 if PyLong_CheckExact(value) else default_type())
    return made((size,), value, type_num, device, requires_grad) if holds(type_num, value) else None


def full_for(TensorBase like not None, size, value, dtype, device, requires_grad):
    """The same of the dtype of another tensor, unless another is given."""
    if not is_flag(requires_grad) or not isinstance(size, (tuple, list)) or is_meta(like.array):
        return None
    cdef int type_num = type_of(dtype, own_type(like))
    return made((size,), value, type_num, device, requires_grad) if holds(type_num, value) else None


def full_like(like, value, dtype, device, requires_grad):
    """The same of the shape of another tensor, too, whose elements lie row by row."""
    if not is_flag(requires_grad) or not isinstance(like, TensorBase):
        return None
    if not holds(type_of(dtype, own_type(<TensorBase>like)), value):
        return None
    return made_like(like, value, dtype, device, requires_grad)


def element(value, dtype, device, requires_grad):
    """Tensor without dimensions, of the default dtype unless another is given."""
    cdef int type_num = type_of(dtype, default_type())
    if not is_flag(requires_grad) or not holds(type_num, value):
        return None
    return new_tensor(0, NULL, value, type_num, device, requires_grad)


def filled_for(TensorBase like not None, tuple size not None, value, dtype, device, requires_grad):
    """The same of the dtype of another tensor."""
    if not is_flag(requires_grad):
        return None
    return None if is_meta(like.array) else made(size, value, type_of(dtype, own_type(like)), device, requires_grad)


def filled_like(like, value, dtype, device, requires_grad):
    """The same of the shape of another tensor, too, whose elements lie row by row."""
    return made_like(like, value, dtype, device, requires_grad) if is_flag(requires_grad) else None


cdef object made_like(object like, object value, object dtype, object device, bint requires_grad):
    if not isinstance(like, TensorBase) or is_meta((<TensorBase>like).array):
        return None
    cdef cnp.ndarray array = <cnp.ndarray>(<TensorBase>like).array
    if not cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_SIZE(array) > MOST_ELEMENTS:
        return None
    cdef int type_num = type_of(dtype, own_type(<TensorBase>like))
    return new_tensor(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), value, type_num, device, requires_grad)


def identity(rows, columns, dtype, device, requires_grad):
    """Matrix with ones on the diagonal."""
    if not is_flag(requires_grad):
        return None
    cdef object result = made((rows, columns), 0, type_of(dtype, default_type()), device, requires_grad)
    if result is None:
        return None
    cdef cnp.ndarray array = <cnp.ndarray>(<TensorBase>result).array
    cdef npy_intp size = cnp.PyArray_ITEMSIZE(array), i
    cdef PyObject *one = full_array(cnp.PyArray_TYPE(array), 0, NULL, 1)
    for i in range(min(cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1))):
        memcpy(
            cnp.PyArray_BYTES(array) + i * (cnp.PyArray_DIM(array, 1) + 1) * size,
            cnp.PyArray_DATA(<cnp.ndarray>one), size,
        )
    release_array(one)
    return result


def spaced(start, end, steps, dtype, device, requires_grad):
    """``linspace`` of two points or more, in float32 or float64; computed as `ranges.line` does."""
    if not is_flag(requires_grad):
        return None
    if not is_number(start) or not is_number(end) or not PyLong_CheckExact(steps) or not 2 <= steps <= MOST_ELEMENTS:
        return None
    cdef npy_intp count = steps, i
    result = row_of_floats(count, type_of(dtype, default_type()), device, requires_grad)
    if result is None:
        return None
    cdef cnp.ndarray array = <cnp.ndarray>(<TensorBase>result).array
    cdef double first = start, last = end, step = (last - first) / (count - 1)
    for i in range(count):
        set_point(array, i, first + step * i if i < count // 2 else last - step * (count - 1 - i))
    return result


def powers(start, end, steps, base, dtype, device, requires_grad):
    """``logspace`` likewise: powers are taken in float64, and rounded."""
    if not is_flag(requires_grad):
        return None
    cdef int type_num = type_of(dtype, default_type())
    if type_num not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) or not is_number(base):
        return None
    exponents = spaced(start, end, steps, DOUBLE, device, False)
    if exponents is None:
        return None
    cdef PyObject *wide = binary_scalar(POWER, (<TensorBase>exponents).array, float(base), True)
    cdef PyObject *found = NULL
    try:
        found = cast(wide, type_num)
    finally:
        release_array(wide)
    cdef TensorBase result = wrap_owned(found)
    return result.requires_grad_() if requires_grad else result


def counted(start, end, step, dtype, device, requires_grad):
    """``arange``: of ints in int64, else in float32 or float64, where each value is rounded once."""
    if not is_flag(requires_grad):
        return None
    if not is_number(start) or not is_number(end) or not is_number(step) or step == 0 or (end - start) * step < 0:
        return None
    cdef bint are_ints = PyLong_CheckExact(start) and PyLong_CheckExact(end) and PyLong_CheckExact(step)
    cdef int type_num = type_of(dtype, cnp.NPY_INT64 if are_ints else default_type())
    cdef double length = (<double>end - <double>start) / <double>step
    if length > MOST_ELEMENTS:
        return None
    cdef npy_intp count = <npy_intp>ceil(length), i
    if type_num == cnp.NPY_INT64 and are_ints:
        return row_of_ints(start, step, count, device, requires_grad)
    result = row_of_floats(count, type_num, device, requires_grad)
    if result is None:
        return None
    cdef cnp.ndarray array = <cnp.ndarray>(<TensorBase>result).array
    cdef double first = start, by = step
    for i in range(count):
        set_point(array, i, first + by * i)
    return result


cdef bint is_number(object value) except -1:
    """An int or a float that is not so large that its kind would matter."""
    return (PyLong_CheckExact(value) or PyFloat_CheckExact(value)) and -MOST <= value <= MOST


cdef bint holds(int type_num, object value) except -1:
    """Is it an int or a float, and does the dtype, one of the usual ones, have it, or one that it is rounded to?"""
    if PyFloat_CheckExact(value):
        return type_num == cnp.NPY_FLOAT64 or (type_num == cnp.NPY_FLOAT32 and not FLT_MAX < fabs(value) < INFINITY)
    if not PyLong_CheckExact(value) or not -MOST <= value <= MOST:
        return False
    return type_num in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_INT64)


cdef bint is_flag(object requires_grad) noexcept:
    """Is it a bool, or left out? For anything else the longer way has an error."""
    return requires_grad is False or requires_grad is True or requires_grad is None


cdef object row_of_floats(npy_intp count, int type_num, object device, bint requires_grad):
    if type_num not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        return None
    return new_tensor(1, &count, None, type_num, device, requires_grad)


cdef object row_of_ints(npy_int64 first, npy_int64 step, npy_intp count, object device, bint requires_grad):
    cdef npy_intp i
    result = new_tensor(1, &count, None, cnp.NPY_INT64, device, requires_grad)
    if result is None:
        return None
    cdef npy_int64 *elements = <npy_int64 *>cnp.PyArray_DATA(<cnp.ndarray>(<TensorBase>result).array)
    for i in range(count):
        elements[i] = first + step * i
    return result


cdef inline void set_point(cnp.ndarray array, npy_intp place, double value) noexcept:
    if cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT32:
        (<float *>cnp.PyArray_DATA(array))[place] = <float>value
    else:
        (<double *>cnp.PyArray_DATA(array))[place] = value


cdef inline bint is_usual(object device) except -1:
    """Nothing is being traced or batched, and the device (the default, unless one is named) is the CPU."""
    if living != 0:
        return False
    if device is None:
        return not (devices.default_was_set and devices.default_is_meta())
    if isinstance(device, str):
        return device == "cpu"
    return isinstance(device, DEVICE) and device.type == "cpu"


cdef inline int own_type(TensorBase tensor) noexcept:
    return cnp.PyArray_TYPE(<cnp.ndarray>tensor.array)


cdef int type_of(object dtype, int otherwise) noexcept:
    """NumPy's number of a dtype; -1 for what is no dtype yet, or none that tensors have."""
    if dtype is None:
        return otherwise
    if not cnp.PyArray_DescrCheck(dtype) or not cnp.PyDataType_ISNOTSWAPPED(<cnp.dtype>dtype):
        return -1
    return (<cnp.dtype>dtype).type_num


cdef object made(tuple size, object value, int type_num, object device, bint requires_grad):
    cdef npy_intp[MOST_DIMS] dims
    cdef int nd = dims_of(size, MOST_UNFILLED if value is None else MOST_ELEMENTS, dims)
    return None if nd < 0 else new_tensor(nd, dims, value, type_num, device, requires_grad)


cdef int dims_of(tuple size, npy_intp most, npy_intp *dims) except -2:
    """Reads ``(2, 3)`` or ``((2, 3),)``; -1 where it is something else, or more than so many elements."""
    cdef object sizes = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    cdef npy_intp total = 1
    cdef int nd = 0
    if len(sizes) > MOST_DIMS or len(size) == 0:
        return -1
    for length in sizes:
        if not PyLong_CheckExact(length) or not 0 <= length <= most:
            return -1
        dims[nd] = PyLong_AsLongLong(length)
        total *= dims[nd]
        if total > most:
            return -1
        nd += 1
    return nd


cdef object new_tensor(
    int nd, const npy_intp *dims, object value, int type_num, object device, bint requires_grad
):
    if not 0 <= type_num < TYPES or not known[type_num] or not is_usual(device):
        return None
    if requires_grad and not differentiable[type_num]:
        return None
    cdef TensorBase result = wrap_owned(
        empty_array(type_num, nd, dims) if value is None else full_array(type_num, nd, dims, value)
    )
    return result.requires_grad_() if requires_grad else result
