"""What the operators of tensors compute with, and what they leave to the other operand."""
from gradsmith.runtime.calls.arguments cimport is_plain_operand, is_tensor
from gradsmith.runtime.switches.array_functions cimport is_called_of_arrays, tensors_have_methods

# Lists and tuples are operands, but not those of a class that defines its own side of the operator, `partner`: Python
# asks it next.
cdef bint is_operand_without(object value, str partner) except -1

cdef inline bint computes_with(object value, str partner) except -1:
    return is_plain_operand(value) or is_operand_without(value, partner)

cdef bint is_number(object value) noexcept

cdef object dtype_of(object operand)

cdef inline bint joins_dtypes(object left, object right) except -1:
    """Does `@` join two dtypes in a function of arrays, where it promotes them as NumPy does? PyTorch's refuses them."""
    return tensors_have_methods and is_called_of_arrays() and dtype_of(left) is not dtype_of(right)

cdef object product_by_numpy(object left, object right)

cdef bint joins_integers(object left, object right, bint divides) except -1

cdef inline bint means_numpys(object left, object right, bint divides) except -1:
    """Is NumPy's dtype another one, in a function of arrays? PyTorch computes floats of integers in the default dtype."""
    return tensors_have_methods and is_called_of_arrays() and joins_integers(left, right, divides)

cdef object by_numpy(str name, object left, object right, bint divides)

cdef inline bint multiplies_with(object value, str partner) except -1:
    """The same for `@`, which has no meaning for numbers."""
    return is_tensor(value) or (not is_number(value) and is_operand_without(value, partner))
