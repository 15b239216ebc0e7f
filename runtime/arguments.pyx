"""Conversion of arguments and results; what is usual is inline in the .pxd."""
from cpython.long cimport PyLong_FromSsize_t
from cpython.object cimport PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
cimport numpy as cnp

from gradsmith.runtime.inplace cimport check_result_dtype, write_out
from gradsmith.runtime.tangent cimport has_tangent_1
from gradsmith.runtime.tensor cimport REQUIRES_GRAD, TensorBase, array_of, wrap
from gradsmith.runtime.variable cimport requires_grad_1

import operator

import numpy as np

from gradsmith.runtime import dtypes, upcalls
from gradsmith.runtime.tensor import from_array

cnp.import_array()


def use_tensor_type(type final_type):
    """Make the exact test of `is_tensor` one for `final_type`. Called once, by the generated Tensor class."""
    global tensor_type
    Py_INCREF(final_type)       # never given back: the class lives as long as the process
    tensor_type = <PyTypeObject *>final_type


cdef bint is_other_tensor(object value) noexcept:
    return isinstance(value, TensorBase)


cdef object refuse(object value, str wanted, str op, str argument, int position):
    raise TypeError(
        f"{op}(): argument '{argument}' (position {position}) must be {wanted}, not {type(value).__name__}"
    )


# ---- operands

cdef bint is_convertible(object value) noexcept:
    return isinstance(value, (TensorBase, float, int, complex, np.ndarray, np.number, np.bool_))


cdef object convert_operand(object value, str op, str argument, int position):
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.ndarray):
        return from_array(value)
    if is_convertible(value):
        return python_number(value)
    return refuse(value, "Tensor or number", op, argument, position)


cdef object convert_tensor_operand(object value, str op, str argument, int position):
    if isinstance(value, np.ndarray):
        return from_array(value)
    return refuse(value, "Tensor", op, argument, position)


cdef object python_number(object value):
    """A NumPy scalar, or an instance of a subclass of Python's numbers, as a plain Python number."""
    if isinstance(value, np.generic):
        number = value.item()
        return float(number) if isinstance(number, np.floating) else number     # longdouble is its own item
    if type(value) in (bool, int, float, complex):
        return value
    return int(value) if isinstance(value, int) else float(value) if isinstance(value, float) else complex(value)


# ---- tensors

cdef list as_tensor_list(object value, str op, str argument, int position):
    cdef list tensors
    if not isinstance(value, (list, tuple)):
        refuse(value, "tuple of Tensors", op, argument, position)
    tensors = list(value)
    for i, item in enumerate(tensors):
        if not is_tensor(item):
            raise TypeError(
                f"{op}(): expected Tensor as element {i} of argument '{argument}', but got {type(item).__name__}"
            )
    return tensors


cdef int refuse_numbers(str op, str argument) except -1:
    raise TypeError(f"{op}(): argument '{argument}' (position 1) must be Tensor when the others are numbers")


cdef int check_real(object value, str op) except -1:
    if is_tensor(value):
        if cnp.PyArray_ISCOMPLEX(<cnp.ndarray>(<TensorBase>value).array):
            raise NotImplementedError(f"{op}(): not defined for complex numbers, got a {value.dtype} tensor")
    elif type(value) is complex:
        raise NotImplementedError(f"{op}(): not defined for complex numbers, got {value}")
    return 0


cdef int check_not_recorded(str op, TensorBase self) except -1:
    if requires_grad_1(self):
        raise RuntimeError(
            f"{op}(): the operation has no derivative, so it cannot change a tensor that requires grad. "
            "Detach the tensor first, or use no_grad()."
        )
    return 0


# ---- numbers and the rest

cdef object as_number(object value, str op, str argument, int position):
    if is_plain_number(value):
        return value
    if is_tensor(value) and value.ndim == 0 and not value.requires_grad:
        return value.item()
    if is_convertible(value) and not isinstance(value, (np.ndarray, TensorBase)):
        return python_number(value)
    return refuse(value, "Number", op, argument, position)


cdef object as_number_or_none(object value, str op, str argument, int position):
    return None if value is None else as_number(value, op, argument, position)


cdef object as_int(object value, str op, str argument, int position):
    if type(value) is int:
        return value
    if isinstance(value, (bool, np.bool_)):
        return refuse(value, "int", op, argument, position)
    try:
        return operator.index(value)
    except TypeError:
        return refuse(value, "int", op, argument, position)


cdef object as_int_or_none(object value, str op, str argument, int position):
    return None if value is None else as_int(value, op, argument, position)


cdef tuple as_int_tuple(object value, str op, str argument, int position):
    if type(value) is int:
        return (value,)
    if not isinstance(value, (tuple, list, np.ndarray)):
        return (as_int(value, op, argument, position),) if has_index(value) else refuse(
            value, "tuple of ints", op, argument, position
        )
    for item in value:
        if type(item) is not int:
            return tuple([as_int_item(item, i, op, argument, position) for i, item in enumerate(value)])
    return tuple(value)


cdef bint has_index(object value):
    return not isinstance(value, (bool, np.bool_)) and hasattr(type(value), "__index__")


cdef object as_int_item(object item, int index, str op, str argument, int position):
    if has_index(item):
        return operator.index(item)
    raise TypeError(
        f"{op}(): argument '{argument}' (position {position}) must be tuple of ints, but found element of type "
        f"{type(item).__name__} at pos {index}"
    )


cdef object as_int_tuple_or_none(object value, str op, str argument, int position):
    return None if value is None else as_int_tuple(value, op, argument, position)


cdef object as_float(object value, str op, str argument, int position):
    if type(value) is float:
        return value
    number = as_number(value, op, argument, position)
    return refuse(value, "float", op, argument, position) if type(number) is complex else float(number)


cdef object as_float_or_none(object value, str op, str argument, int position):
    return None if value is None else as_float(value, op, argument, position)


cdef object as_bool(object value, str op, str argument, int position):
    if value is True or value is False:
        return value
    return bool(value) if isinstance(value, np.bool_) else refuse(value, "bool", op, argument, position)


cdef object as_bool_or_none(object value, str op, str argument, int position):
    return None if value is None else as_bool(value, op, argument, position)


cdef object as_str(object value, str op, str argument, int position):
    return value if isinstance(value, str) else refuse(value, "str", op, argument, position)


cdef object as_str_or_none(object value, str op, str argument, int position):
    return None if value is None else as_str(value, op, argument, position)


cdef object as_dtype(object value, str op, str argument, int position):
    return dtypes.as_dtype(value, op)


cdef object as_dtype_or_none(object value, str op, str argument, int position):
    return None if value is None else dtypes.as_dtype(value, op)


cdef object spread(tuple arguments):
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        return arguments[0]
    return arguments


# ---- arrays of tensors, and what is asked of them

cdef tuple shape_of(TensorBase t):
    cdef cnp.ndarray array = <cnp.ndarray>t.array
    cdef int i, ndim = cnp.PyArray_NDIM(array)
    cdef tuple shape = PyTuple_New(ndim)
    for i in range(ndim):
        size = PyLong_FromSsize_t(cnp.PyArray_DIM(array, i))
        Py_INCREF(size)         # PyTuple_SET_ITEM steals a reference
        PyTuple_SET_ITEM(shape, i, size)
    return shape


cdef object dtype_of(TensorBase t):
    return <object>cnp.PyArray_DESCR(<cnp.ndarray>t.array)


cdef int ndim_of(TensorBase t) except -1:
    return cnp.PyArray_NDIM(<cnp.ndarray>t.array)


cdef object numel_of(TensorBase t):
    return cnp.PyArray_SIZE(<cnp.ndarray>t.array)


cdef bint is_complex(TensorBase t) except -1:
    return cnp.PyArray_ISCOMPLEX(<cnp.ndarray>t.array)


cdef object array_or_none(TensorBase t):
    return None if t is None else array_of(t)


cdef list arrays_of(list tensors):
    cdef TensorBase t
    return [array_of(t) for t in tensors]


cdef TensorBase as_floating(TensorBase t):
    array = array_of(t)
    return t if array.dtype.kind in "fc" else wrap(array.astype(dtypes.get_default_dtype()))


# ---- results

cdef TensorBase copy_into(str op, TensorBase self, TensorBase value):
    check_result_dtype(op, dtype_of(value), dtype_of(self))
    return upcalls.copy_(self, value)


cdef int write_values(str op, TensorBase self, object values) except -1:
    target = array_of(self)
    source = np.asarray(values)
    if source.dtype.kind == "c" and target.dtype.kind != "c":
        raise RuntimeError(f"{op}(): complex values cannot be written into a {target.dtype} tensor")
    try:
        # NumPy drops leading dimensions of size one; then the gradient would have another shape than the values.
        if source.ndim > target.ndim:
            raise ValueError
        np.copyto(target, source, casting="unsafe")
    except ValueError:
        raise RuntimeError(
            f"{op}(): values of shape {list(source.shape)} do not broadcast to the tensor's shape {list(target.shape)}"
        ) from None
    return 0


cdef object write_result(str op, object out, object result):
    if isinstance(result, tuple):
        return write_results(op, out, result)
    if (<TensorBase?>result).flags & REQUIRES_GRAD:
        raise RuntimeError(
            f"{op}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad. Use the form without out=, or no_grad()."
        )
    if has_tangent_1(<TensorBase>result):
        raise NotImplementedError(
            f"{op}(): forward mode does not support functions with out=... arguments, but one of the arguments has a "
            "tangent. Use the form without out=."
        )
    return write_out(op, out, array_of(<TensorBase>result))


cdef object write_results(str op, object out, tuple result):
    if not isinstance(out, tuple) or len(out) != len(result):
        raise TypeError(f"{op}(): argument 'out' must be a tuple of {len(result)} Tensors")
    written = [write_result(op, target, value) for target, value in zip(out, result)]
    return type(result)._make(written)
