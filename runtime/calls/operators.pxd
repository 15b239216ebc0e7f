"""What the operators of tensors compute with, and what they leave to the other operand."""
from gradsmith.runtime.calls.arguments cimport is_plain_operand, is_tensor

# Lists and tuples are operands, but not those of a class that defines its own side of the operator, `partner`: Python
# asks it next.
cdef bint is_operand_without(object value, str partner) except -1

cdef inline bint computes_with(object value, str partner) except -1:
    return is_plain_operand(value) or is_operand_without(value, partner)

cdef bint is_number(object value) noexcept

# Does `@` join two dtypes in a function of arrays, where it promotes them as NumPy does? PyTorch's refuses them.
cdef bint joins_dtypes(object left, object right) except -1

cdef object product_by_numpy(object left, object right)

cdef inline bint multiplies_with(object value, str partner) except -1:
    """The same for `@`, which has no meaning for numbers."""
    return is_tensor(value) or (not is_number(value) and is_operand_without(value, partner))
