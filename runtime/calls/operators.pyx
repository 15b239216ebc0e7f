"""What the operators of tensors compute with, and what they leave to the other operand."""
import numpy as np

from gradsmith.runtime.calls.arguments cimport is_operand
from gradsmith.runtime.graph.size cimport is_size

cdef tuple LISTS = (list, tuple)
cdef tuple NUMBERS = (int, float, complex, np.generic)


cdef bint is_operand_without(object value, str partner) except -1:
    return is_operand(value) and not (isinstance(value, LISTS) and defines_own(value, partner))


cdef bint defines_own(object value, str partner) except -1:
    """A shape has `+` and `*` of its own, and is a tuple of numbers beside a tensor none the less."""
    cdef type own = type(value)
    if own is list or own is tuple or is_size(value):
        return False
    inherited = getattr(list if isinstance(value, list) else tuple, partner, None)
    return getattr(own, partner, None) is not inherited


cdef object dtype_of(object operand):
    """That of a tensor or an array; the one of a list is left to NumPy."""
    return getattr(operand, "dtype", None)


cdef object product_by_numpy(object left, object right):
    """NumPy asks the tensors, which compute the product in the dtype of its promotion; NotImplemented of what is none."""
    if not joins_dtypes(left, right) or is_number(left) or is_number(right):
        return NotImplemented
    return np.matmul(left, right) if is_operand(left) and is_operand(right) else NotImplemented


cdef bint is_number(object value) noexcept:
    return isinstance(value, NUMBERS)
