"""Conversion of arguments and results; what is usual is inline in the .pxd."""
from cpython.long cimport PyLong_FromSsize_t
from cpython.object cimport PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.calls.inplace cimport (
    check_inplace,
    check_result_dtype,
    is_written_already,
    original_of,
    store_values,
    write_some,
    writes_some_of_overlapping,
)
from gradsmith.runtime.calls.converted cimport (
    expect_tensor,
    is_convertible,
    is_list_of_numbers,
    number_as_tensor,
    python_number,
    rank_of_data,
)
from gradsmith.runtime.graph.saved_variable cimport is_constant
from gradsmith.runtime.graph.size cimport is_size
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of, wrap
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

import operator

import sys

import numpy as np

from gradsmith.runtime.arrays import dtypes
from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.device import as_device as device_argument
from gradsmith.runtime.graph.tensor import from_shared_array
from gradsmith.runtime.graph.tensor_api import strides_of
from gradsmith.runtime.switches import upcalls

cnp.import_array()


cdef bint is_other_tensor(object value) noexcept:
    return isinstance(value, TensorBase)


cdef object refuse(object value, str wanted, str op, str argument, int position):
    masked = sys.modules.get("numpy.ma")
    advice = ""
    if masked is not None and isinstance(value, masked.MaskedArray):
        advice = ", whose mask has no place in a tensor; fill it first: array.filled(value)"
    raise TypeError(
        f"{op}(): argument '{argument}' (position {position}) must be {wanted}, not {type(value).__name__}{advice}"
    )


# Classes are named in a tuple made beforehand: in one that is written out, Cython looks for no exception, which a class
# of NumPy's can mean, and an object whose `__class__` raises, such as a weak proxy of what has gone.
cdef tuple BOOLS = (bool, np.bool_)
cdef tuple SEQUENCES = (tuple, list, np.ndarray)
cdef tuple ARRAYS = (TensorBase, np.ndarray)

# What PyTorch's functions call 0, 1 and 2 where those of its nn.functional take words.
cdef tuple REDUCTIONS = ("none", "mean", "sum")
cdef tuple NUMPY_SCALAR = (np.generic,)


# ---- operands

cdef bint is_other_operand(object value) except -1:
    return is_convertible(value) or is_list_of_numbers(value)


cdef bint is_integer_number(TensorBase t) noexcept:
    return cnp.PyArray_NDIM(<cnp.ndarray>t.array) == 0 and cnp.PyArray_ISINTEGER(<cnp.ndarray>t.array)


cdef object convert_operand(object value, str op, str argument, int position, object beside):
    if isinstance(value, TensorBase):
        return value
    if cnp.PyArray_CheckExact(value):
        return from_shared_array(value)     # no op that takes numbers too gives a view
    if isinstance(value, cnp.ndarray) or is_list_of_numbers(value):
        return convert_tensor(value, op, argument, position, beside)
    if is_convertible(value):
        return python_number(value)
    return refuse(value, "Tensor or number", op, argument, position)


cdef TensorBase convert_tensor(object value, str op, str argument, int position, object beside):
    found = expect_tensor(value, beside)
    return found if found is not None else <TensorBase>refuse(value, "Tensor", op, argument, position)


cdef TensorBase convert_first_operand(object value, object other, str op, str argument, int position):
    if cnp.PyArray_CheckExact(value):
        return <TensorBase>from_shared_array(value)
    if is_convertible(value) and not isinstance(value, ARRAYS) and (is_tensor(other) or not is_numpy_scalar(value)):
        return number_as_tensor(python_number(value), other)
    return convert_tensor(value, op, argument, position, other)


cdef bint is_numpy_scalar(object value) except -1:
    return isinstance(value, NUMPY_SCALAR)


# ---- tensors

cdef list as_tensor_list(object value, str op, str argument, int position):
    if not isinstance(value, (list, tuple)):
        refuse(value, "tuple of Tensors", op, argument, position)
    return tensors_among(value, op, argument, "Tensor", False)


cdef list as_tensor_list_or_none(object value, str op, str argument, int position):
    return None if value is None else as_tensor_list(value, op, argument, position)


cdef list as_optional_tensor_list(object value, str op, str argument, int position):
    if not isinstance(value, (list, tuple)):
        refuse(value, "tuple of Tensors or None", op, argument, position)
    return tensors_among(value, op, argument, "Tensor or None", True)


cdef list as_optional_tensor_list_or_none(object value, str op, str argument, int position):
    return None if value is None else as_optional_tensor_list(value, op, argument, position)


cdef list tensors_among(object value, str op, str argument, str wanted, bint optional):
    """The items as tensors: those that are none take over what they may from the first one that is."""
    cdef list items = list(value)
    cdef int i
    beside = None
    for i, item in enumerate(items):
        if is_tensor(item) or (optional and item is None):
            continue
        if beside is None:
            beside = next((other for other in items if isinstance(other, ARRAYS)), None)
        found = expect_tensor(item, beside)
        if found is None:
            raise TypeError(
                f"{op}(): expected {wanted} as element {i} of argument '{argument}', but got {type(item).__name__}"
            )
        items[i] = found
    return items


cdef int refuse_gradient(TensorBase t, str op, str argument) except -1:
    problem = f"The function '{op}' is not differentiable with respect to argument '{argument}'."
    if requires_grad_1(t):
        raise RuntimeError(f"{problem} This input cannot have requires_grad True.")
    raise NotImplementedError(f"{problem} This input cannot have a tangent.")


cdef int check_no_gradient_list(list tensors, str op, str argument) except -1:
    cdef TensorBase t
    for t in tensors or ():
        check_no_gradient(t, op, argument)
    return 0


cdef int refuse_inplace(str op, str why) except -1:
    raise NotImplementedError(
        f"{op}_(): {op} cannot be done in place: {why}. Use {op}(), which gives its result as another tensor."
    )


cdef object only_one(tuple values, str op, str argument):
    given = [value for value in values if value is not None]
    if len(given) > 1:
        raise TypeError(f"{op}() got several values for argument '{argument}', under different names")
    return given[0]


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
    if is_convertible(value) and not isinstance(value, ARRAYS):
        return python_number(value)
    return refuse(value, "Number", op, argument, position)


cdef object as_number_or_none(object value, str op, str argument, int position):
    return None if value is None else as_number(value, op, argument, position)


cdef object as_int(object value, str op, str argument, int position):
    if type(value) is int:
        return value
    return operator.index(value) if has_index(value) else refuse(value, "int", op, argument, position)


cdef object as_int_or_none(object value, str op, str argument, int position):
    return None if value is None else as_int(value, op, argument, position)


cdef tuple as_int_tuple(object value, str op, str argument, int position):
    if type(value) is int:
        return (value,)
    if is_size(value):
        return tuple(value)
    if not isinstance(value, SEQUENCES):
        return (as_int(value, op, argument, position),) if has_index(value) else refuse(
            value, "tuple of ints", op, argument, position
        )
    for item in value:
        if type(item) is not int:
            return tuple([as_int_item(item, i, op, argument, position) for i, item in enumerate(value)])
    return tuple(value)


cdef bint has_index(object value) except -1:
    """Can it be used as an int? Of tensors and arrays, those of an integer dtype without dimensions."""
    if isinstance(value, ARRAYS):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return not isinstance(value, BOOLS) and hasattr(type(value), "__index__")


cdef object as_int_item(object item, int index, str op, str argument, int position):
    if has_index(item):
        return operator.index(item)
    raise TypeError(
        f"{op}(): argument '{argument}' (position {position}) must be tuple of ints, but found element of type "
        f"{type(item).__name__} at pos {index}"
    )


cdef object as_int_tuple_or_none(object value, str op, str argument, int position):
    return None if value is None else as_int_tuple(value, op, argument, position)


# ---- dimensions

cdef object as_dim(object value, str op, str argument, int position, object tensor):
    return counted(as_int(value, op, argument, position), rank_of(tensor), op, argument, tensor)


cdef object as_dim_or_none(object value, str op, str argument, int position, object tensor):
    return None if value is None else as_dim(value, op, argument, position, tensor)


cdef tuple as_dim_tuple(object value, str op, str argument, int position, object tensor):
    cdef int rank = rank_of(tensor)
    return tuple([counted(dim, rank, op, argument, tensor) for dim in as_int_tuple(value, op, argument, position)])


cdef object as_dim_tuple_or_none(object value, str op, str argument, int position, object tensor):
    return None if value is None else as_dim_tuple(value, op, argument, position, tensor)


cdef object as_new_dim(object value, str op, str argument, int position, object tensor):
    return counted(as_int(value, op, argument, position), rank_of(tensor) + 1, op, argument, tensor)


cdef inline int rank_of(object tensor) except -1:
    if isinstance(tensor, TensorBase):
        return cnp.PyArray_NDIM(<cnp.ndarray>(<TensorBase>tensor).array)
    return rank_of_data(tensor)


cdef object counted(object dim, int rank, str op, str argument, object tensor):
    """A dimension, counted from the front."""
    if rank == 0 or 0 <= dim < rank:
        return dim
    if -rank <= dim < 0:
        return dim + rank
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim}): argument "
        f"'{argument}' of {op}()" + (f", for a tensor of shape {list(tensor.shape)}" if is_tensor(tensor) else "")
    )


cdef tuple as_tuple(object value, str op, str argument, int position, ItemKind kind, int length):
    cdef tuple items
    wanted = f"{length} {ITEM_NAMES[kind]}" if length else f"tuple of {ITEM_NAMES[kind]}"
    if not isinstance(value, SEQUENCES):
        item = expect_item(value, kind)
        if item is NO_ITEM or not (length or kind == INT_ITEMS):
            refuse(value, wanted, op, argument, position)
        return (item,) * (length or 1)
    items = tuple([expect_item(item, kind) for item in value])
    if NO_ITEM in items:
        place = items.index(NO_ITEM)
        raise TypeError(
            f"{op}(): argument '{argument}' (position {position}) must be {wanted}, but found element of type "
            f"{type(value[place]).__name__} at pos {place}"
        )
    if length and len(items) == 1:
        return items * length
    if length and len(items) != length:
        raise RuntimeError(
            f"{op}(): argument '{argument}' (position {position}) must be {wanted}, or one for all, but got "
            f"{len(items)}: {list(items)}"
        )
    return items


cdef object as_tuple_or_none(object value, str op, str argument, int position, ItemKind kind, int length):
    """None is also an empty list in the place of a fixed number of items: PyTorch's way to leave `stride` out."""
    if value is None or (length and isinstance(value, SEQUENCES) and len(value) == 0):
        return None
    return as_tuple(value, op, argument, position, kind, length)


cdef tuple ITEM_NAMES = ("ints", "floats", "numbers", "bools", "strs")      # in the order of ItemKind


class NO_ITEM:
    """Stands for an item of another kind."""


cdef object expect_item(object value, ItemKind kind):
    """An item as the op takes it, or NO_ITEM."""
    if kind == INT_ITEMS:
        return operator.index(value) if has_index(value) else NO_ITEM
    if kind == BOOL_ITEMS:
        return bool(value) if isinstance(value, BOOLS) else NO_ITEM
    if kind == STR_ITEMS:
        return value if isinstance(value, str) else NO_ITEM
    if is_tensor(value) and value.ndim == 0 and not value.requires_grad:
        value = value.item()
    if not is_convertible(value) or isinstance(value, ARRAYS):
        return NO_ITEM
    number = python_number(value)
    if kind == NUMBER_ITEMS:
        return number
    return NO_ITEM if type(number) is complex else float(number)


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
    if isinstance(value, str):
        return value
    if argument == "reduction" and type(value) is int and 0 <= value < 3:
        return REDUCTIONS[value]
    return refuse(value, "str", op, argument, position)


cdef object as_str_or_none(object value, str op, str argument, int position):
    return None if value is None else as_str(value, op, argument, position)


cdef object as_dtype(object value, str op, str argument, int position):
    return dtypes.as_dtype(value, op)


cdef object as_dtype_or_none(object value, str op, str argument, int position):
    return None if value is None else dtypes.as_dtype(value, op)


cdef object as_device(object value, str op, str argument, int position):
    return device_argument(value, op)


cdef object as_device_or_none(object value, str op, str argument, int position):
    return None if value is None else device_argument(value, op)


cdef object spread(tuple arguments):
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        return arguments[0]
    return arguments


cdef bint gives_items(tuple arguments) except -1:
    """Are these sizes or places, ``f(2, 3)`` or ``f((2, 3))``? What else they may be is looked at more slowly."""
    if not arguments:
        return False
    first = arguments[0]
    return type(first) is int or (len(arguments) == 1 and isinstance(first, (tuple, list)))


cdef object one_of(tuple arguments, object named, str op, str argument):
    if named is None:
        if not arguments:
            raise TypeError(f"{op}() missing 1 required positional argument: '{argument}'")
        return spread(arguments)
    if arguments:
        raise TypeError(f"{op}() got multiple values for argument '{argument}'")
    return named


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


cdef object device_of(TensorBase t):
    return t.device


cdef int ndim_of(TensorBase t) except -1:
    return cnp.PyArray_NDIM(<cnp.ndarray>t.array)


cdef object numel_of(TensorBase t):
    return cnp.PyArray_SIZE(<cnp.ndarray>t.array)


cdef tuple stride_of(TensorBase t):
    return strides_of(array_of(t))


cdef object offset_of(TensorBase t):
    return t.storage_offset()


cdef bint is_complex(TensorBase t) except -1:
    return cnp.PyArray_ISCOMPLEX(<cnp.ndarray>t.array)


cdef object array_or_none(TensorBase t):
    return None if t is None else array_of(t)


cdef list arrays_of(list tensors):
    cdef TensorBase t
    return None if tensors is None else [array_or_none(t) for t in tensors]


cdef object arrays_in(object value):
    cdef list parts
    if isinstance(value, TensorBase):
        return array_of(<TensorBase>value)
    if not isinstance(value, (tuple, list)):
        return value
    for part in value:
        if not is_constant(part) and isinstance(part, TensorBase):
            parts = [array_of(<TensorBase>part) if isinstance(part, TensorBase) else part for part in value]
            return tuple(parts) if isinstance(value, tuple) else parts
    return value


cdef list shapes_of(list tensors):
    cdef TensorBase t
    return None if tensors is None else [None if t is None else shape_of(t) for t in tensors]


cdef list dtypes_of(list tensors):
    cdef TensorBase t
    return None if tensors is None else [None if t is None else dtype_of(t) for t in tensors]


cdef TensorBase as_floating(TensorBase t):
    return t if array_of(t).dtype.kind in "fc" else converted(t, dtypes.get_default_dtype())


cdef list as_promoted(tuple operands):
    dtype = dtypes.common_dtype(*operands)
    return [converted(value, dtype) if isinstance(value, TensorBase) else value for value in operands]


cdef TensorBase converted(TensorBase t, object dtype):
    array = array_of(t)
    if array.dtype == dtype:
        return t
    if is_meta(t.array):
        return wrap(array_without_data(array.shape, dtype))
    return wrap(array.astype(dtype))


# ---- results

cdef TensorBase copy_of(TensorBase view):
    return upcalls.clone_by_rows(view)


cdef list copies_of(list views):
    return [copy_of(view) for view in views]


cdef TensorBase copy_into(str op, TensorBase self, TensorBase value):
    """The in-place form of an op, by its result.

    That is for operands with a tangent, as the rule of forward mode reads the value before the write; and for a node
    that saves the result, where it would save a view, which holds the node, or run hooks, which can fail.
    """
    check_result_dtype(op, dtype_of(value), dtype_of(self))
    if writes_some_of_overlapping(op, self):
        return write_some(op, self, value)
    return upcalls.copy_(self, value)


cdef TensorBase before_write(TensorBase self):
    """A tensor with the value and history of one that is about to be overwritten; new values are computed from it."""
    return original_of(self) if grad_enabled() or has_tangent_1(self) else self


cdef int check_several(str op, tuple targets, tuple names) except -1:
    """Of several tensors that an op is about to change, may each be written, and do they share no memory."""
    cdef int i, j
    for i in range(len(targets)):
        for j in range(i):
            if share_elements(<TensorBase>targets[i], <TensorBase>targets[j]):
                raise RuntimeError(
                    f"{op}(): unsupported operation: '{names[j]}' and '{names[i]}' share memory, but each is to be "
                    "changed. clone() one of them first."
                )
    for target in targets:
        check_inplace(op, <TensorBase>target)
    return 0


cdef bint share_elements(TensorBase one, TensorBase other) except -1:
    if one is other:
        return True
    if is_meta(one.array) or is_meta(other.array):
        return False
    return np.shares_memory(<object>one.array, <object>other.array)


cdef int write_several(str op, tuple targets, tuple results) except -1:
    """New values, with their history, into the tensors that they are for; all of them fit before one is written."""
    for target, result in zip(targets, results):
        check_result_dtype(op, dtype_of(<TensorBase>result), dtype_of(<TensorBase>target))
        if (<TensorBase>result).shape != (<TensorBase>target).shape:
            raise RuntimeError(
                f"{op}(): values of shape {list(result.shape)} do not fit the tensor's shape {list(target.shape)}"
            )
    for target, result in zip(targets, results):
        copy_into(op, <TensorBase>target, <TensorBase>result)
    return 0


cdef int write_values(str op, TensorBase self, object values) except -1:
    target = array_of(self)
    if values is target:        # they are in their place
        return 0
    source = np.asarray(values)
    if is_written_already(op, target, source):
        return 0
    try:
        # NumPy drops leading dimensions of size one; then the gradient would have another shape than the values.
        if source.ndim > target.ndim:
            raise ValueError
        store_values(target, source)
    except ValueError:
        raise RuntimeError(
            f"{op}(): values of shape {list(source.shape)} do not broadcast to the tensor's shape {list(target.shape)}"
        ) from None
    return 0
