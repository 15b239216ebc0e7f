"""Arguments as Python gives them, made what the C entries take; results as Python wants them.

Names: `check_x` refuses what is no x, `as_x` also converts, `..._or_none` lets None pass. The error is a TypeError that
names the op, the argument and its position. Usual arguments are tested inline, everything else in a function of its own.
"""

from cpython.object cimport PyTypeObject, Py_TYPE

from gradsmith.runtime.calls.converted cimport is_convertible, is_list_of_numbers, number_as_tensor
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.tensor cimport TensorBase, tensor_type
from gradsmith.runtime.history.history cimport requires_grad_1

cdef bint is_other_tensor(object value) noexcept      # of a subclass

cdef inline bint is_tensor(object value) noexcept:
    return Py_TYPE(value) == <void *>tensor_type or is_other_tensor(value)

cdef inline bint is_plain_number(object value) noexcept:
    return type(value) is float or type(value) is int

# ---- operands: tensor, number, ndarray, NumPy scalar, list of these
# `beside` is another operand, whose dtype numbers and lists take over, or None. See converted.pyx, Note [Arguments that
# are no tensors].
cdef bint is_other_operand(object value) except -1
cdef object convert_operand(object value, str op, str argument, int position, object beside)
cdef TensorBase convert_tensor(object value, str op, str argument, int position, object beside)

# The exact types, which need no call.
cdef inline bint is_plain_operand(object value) noexcept:
    return Py_TYPE(value) == <void *>tensor_type or is_plain_number(value)

cdef inline bint is_operand(object value) except -1:
    return is_plain_operand(value) or is_other_operand(value)

cdef inline bint means_repetition(object tensor, object value) noexcept:
    """Is `value * tensor` what Python means by it: a list, as often as an integer says?"""
    return (type(value) is list or type(value) is tuple) and is_integer_number(<TensorBase>tensor)

cdef bint is_integer_number(TensorBase t) noexcept

cdef inline object as_operand(object value, str op, str argument, int position, object beside):
    if is_plain_operand(value):
        return value
    return convert_operand(value, op, argument, position, beside)

cdef inline TensorBase as_tensor_operand(object value, str op, str argument, int position, object beside):
    if is_tensor(value):
        return <TensorBase>value
    return convert_tensor(value, op, argument, position, beside)

cdef inline TensorBase as_tensor_operand_or_none(object value, str op, str argument, int position, object beside):
    if value is None or is_tensor(value):
        return <TensorBase>value
    return convert_tensor(value, op, argument, position, beside)

cdef inline TensorBase as_input(object value, str op):
    return as_tensor_operand(value, op, "input", 1, None)

# Of an op that takes numbers alone: a number becomes a tensor that gives way to the other operand's dtype.
cdef TensorBase convert_first_operand(object value, object other, str op, str argument, int position)

cdef inline TensorBase as_first_operand(object value, str op, str argument, int position, object other):
    if is_tensor(value):
        return <TensorBase>value
    return convert_first_operand(value, other, op, argument, position)

# ---- tensors, where nothing else will do: they are changed, or looked at as the objects that they are
cdef object refuse(object value, str wanted, str op, str argument, int position)

cdef inline TensorBase check_tensor(object value, str op, str argument, int position):
    if is_tensor(value):
        return <TensorBase>value
    return <TensorBase>refuse(value, "Tensor", op, argument, position)

cdef inline TensorBase check_input(object value, str op):
    return check_tensor(value, op, "input", 1)

cdef inline TensorBase check_tensor_or_none(object value, str op, str argument, int position):
    if value is None or is_tensor(value):
        return <TensorBase>value
    return <TensorBase>refuse(value, "Tensor", op, argument, position)

cdef list as_tensor_list(object value, str op, str argument, int position)
cdef list as_tensor_list_or_none(object value, str op, str argument, int position)
cdef list as_optional_tensor_list(object value, str op, str argument, int position)      # items may be None
cdef list as_optional_tensor_list_or_none(object value, str op, str argument, int position)
cdef int refuse_inplace(str op, str why) except -1               # the method `op_` that there is not
cdef object only_one(tuple values, str op, str argument)        # of those given under an argument's several names
cdef inline object either(object value, object second, str op, str argument):
    """An argument that may have been given by its second name."""
    return value if second is None else only_one((value, second), op, argument)

cdef int refuse_numbers(str op, str argument) except -1         # most ops want one tensor at least
cdef int check_real(object value, str op) except -1             # for ops that have no meaning on complex numbers
cdef int check_not_recorded(str op, TensorBase self) except -1  # in-place form of an op that has no gradient

# Inputs that the table gives no gradient.
cdef int refuse_gradient(TensorBase t, str op, str argument) except -1
cdef inline int check_no_gradient(TensorBase t, str op, str argument) except -1:
    return refuse_gradient(t, op, argument) if requires_grad_1(t) or has_tangent_1(t) else 0
cdef int check_no_gradient_list(list tensors, str op, str argument) except -1

# ---- numbers and the rest
cdef object as_number(object value, str op, str argument, int position)
cdef object as_number_or_none(object value, str op, str argument, int position)
cdef object as_int(object value, str op, str argument, int position)
cdef object as_int_or_none(object value, str op, str argument, int position)
cdef tuple as_int_tuple(object value, str op, str argument, int position)
cdef object as_int_tuple_or_none(object value, str op, str argument, int position)
# Dimensions of a tensor, counted from the front; IndexError for one that it has not. A number has none to count: what is
# said of it goes through to the op.
cdef object as_dim(object value, str op, str argument, int position, object tensor)
cdef object as_dim_or_none(object value, str op, str argument, int position, object tensor)
cdef tuple as_dim_tuple(object value, str op, str argument, int position, object tensor)
cdef object as_dim_tuple_or_none(object value, str op, str argument, int position, object tensor)
cdef object as_new_dim(object value, str op, str argument, int position, object tensor)   # of one more dimension

# Lists of other things. `length` is how many there must be, 0 when any number will do; one value then means all alike.
cdef enum ItemKind:
    INT_ITEMS
    FLOAT_ITEMS
    NUMBER_ITEMS
    BOOL_ITEMS
    STR_ITEMS

cdef tuple as_tuple(object value, str op, str argument, int position, ItemKind kind, int length)
cdef object as_tuple_or_none(object value, str op, str argument, int position, ItemKind kind, int length)

cdef object as_float(object value, str op, str argument, int position)
cdef object as_float_or_none(object value, str op, str argument, int position)
cdef object as_bool(object value, str op, str argument, int position)
cdef object as_bool_or_none(object value, str op, str argument, int position)
cdef object as_str(object value, str op, str argument, int position)
cdef object as_str_or_none(object value, str op, str argument, int position)
cdef object as_dtype(object value, str op, str argument, int position)
cdef object as_dtype_or_none(object value, str op, str argument, int position)
cdef object as_device(object value, str op, str argument, int position)
cdef object as_device_or_none(object value, str op, str argument, int position)
cdef inline object item_of(object sequence, object index):
    return sequence[index]              # an index that is an object is always checked
cdef object spread(tuple arguments)     # f(2, 3) and f((2, 3)) mean the same
cdef bint gives_items(tuple arguments) except -1    # are they numbers, of which `spread` makes the list?
cdef object one_of(tuple arguments, object named, str op, str argument)     # and f(size=(2, 3))

# ---- arrays of tensors, and what is asked of them
cdef tuple shape_of(TensorBase t)
cdef object dtype_of(TensorBase t)
cdef object device_of(TensorBase t)
cdef int ndim_of(TensorBase t) except -1
cdef object numel_of(TensorBase t)
cdef tuple stride_of(TensorBase t)          # in elements
cdef object offset_of(TensorBase t)         # in elements, from the beginning of the memory
cdef bint is_complex(TensorBase t) except -1
cdef object array_or_none(TensorBase t)
cdef list arrays_of(list tensors)           # of a list, items may be None, or None
cdef object arrays_in(object value)         # an argument of any type, arrays instead of the tensors in it
cdef list shapes_of(list tensors)
cdef list dtypes_of(list tensors)
cdef TensorBase as_floating(TensorBase t)   # integers and bools in the default dtype; without history
cdef list as_promoted(tuple operands)        # tensors in the dtype that all operands have in common; without history

# ---- results
cdef TensorBase copy_of(TensorBase view)
cdef list copies_of(list views)
cdef TensorBase copy_into(str op, TensorBase self, TensorBase value)        # as `copy_`, if the dtype may go into `self`
cdef TensorBase before_write(TensorBase self)
cdef int check_several(str op, tuple targets, tuple names) except -1
cdef int write_several(str op, tuple targets, tuple results) except -1     # of an op that changes several arguments
cdef int write_values(str op, TensorBase self, object values) except -1     # broadcast and cast into `self`
