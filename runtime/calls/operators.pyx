"""What the operators of tensors compute with, and what they leave to the other operand."""
import numpy as np

from gradsmith.runtime.calls.arguments cimport is_operand
from gradsmith.runtime.graph.size cimport is_size

cdef tuple LISTS = (list, tuple)
cdef tuple NUMBERS = (int, float, complex, np.generic)
cdef tuple PYTHON_NUMBERS = (int, float, complex)
cdef tuple FLOATS = (float, complex)
cdef object FLOAT64 = np.dtype(np.float64)


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


cdef bint joins_integers(object left, object right, bint divides) except -1:
    """Are integers or bools divided, or joined with floats of another dtype than NumPy's float64?"""
    cdef object one = dtype_of(left), other = dtype_of(right)
    if one is None or other is None:
        number, dtype = (left, other) if one is None else (right, one)
        return is_exact(dtype) and isinstance(number, FLOATS if not divides else PYTHON_NUMBERS)
    if not is_exact(one) and not is_exact(other):
        return False
    return divides or (one is not other and one is not FLOAT64 and other is not FLOAT64) or is_number(left) or is_number(right)


cdef bint is_exact(object dtype) except -1:
    return dtype is not None and getattr(dtype, "kind", "") in "biu"


cdef object by_numpy(str name, object left, object right, bint divides):
    """NumPy asks the tensors, which compute the ufunc as NumPy does; NotImplemented of what has no dtype."""
    return getattr(np, name)(left, right) if means_numpys(left, right, divides) else NotImplemented


cdef bint is_number(object value) noexcept:
    return isinstance(value, NUMBERS)
