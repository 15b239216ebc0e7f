"""Arrays, numbers and lists of them, made tensors where an op takes tensors.

Note [Arguments that are no tensors]
Nothing here is run for a tensor: it begins where the check of an argument would otherwise end in a TypeError.

    ndarray         shares its memory, and cannot be written through the tensor nor through its views
    NumPy scalar    beside a tensor a plain number, alone a tensor of its dtype
    number          gives way to the dtype of the tensor beside it, as in PyTorch
    list, tuple     a tensor of what is in it; Python's numbers give way as a number does, tensors are stacked and keep
                    their history

Integers keep their dtype beside floating numbers, since they may be indices; ops that compute promote them themselves.
"""
cimport numpy as cnp

from gradsmith.runtime.graph.tensor cimport TensorBase, wrap

import sys

import numpy as np

from gradsmith.runtime.arrays import dtypes
from gradsmith.runtime.graph.tensor import from_shared_array
from gradsmith.runtime.switches import upcalls

cnp.import_array()

# In tuples made beforehand, see arguments.pyx.
cdef tuple NUMPY_OPERANDS = (np.ndarray, np.number, np.bool_)
cdef tuple ARRAYS = (TensorBase, np.ndarray)
cdef tuple LISTS = (list, tuple)

cdef enum:
    DEEPEST_LIST = 32       # lists within lists, as NumPy had it


cdef bint is_convertible(object value) except -1:
    return isinstance(value, (TensorBase, float, int, complex)) or isinstance(value, NUMPY_OPERANDS)


cdef bint is_list_of_numbers(object value) except -1:
    cdef int depth = 0
    while isinstance(value, LISTS) and len(value) and depth < DEEPEST_LIST:
        value = value[0]
        depth += 1
    return depth > 0 and is_convertible(value)


cdef int rank_of_data(object value) except -1:
    cdef int depth = 0
    while isinstance(value, LISTS) and len(value) and depth < DEEPEST_LIST:
        value = value[0]
        depth += 1
    if isinstance(value, LISTS):
        return depth + 1
    return depth + (value.ndim if isinstance(value, ARRAYS) else 0)


cdef object python_number(object value):
    """A NumPy scalar, or an instance of a subclass of Python's numbers, as a plain Python number."""
    if isinstance(value, np.generic):
        number = value.item()
        return float(number) if isinstance(number, np.floating) else number     # longdouble is its own item
    if type(value) in (bool, int, float, complex):
        return value
    return int(value) if isinstance(value, int) else float(value) if isinstance(value, float) else complex(value)


cdef TensorBase expect_tensor(object value, object beside):
    if isinstance(value, cnp.ndarray):
        return borrowed(value)
    if isinstance(value, LISTS):
        if type(value) is not list and type(value) is not tuple:
            refuse_results(value)
        return of_list(value, beside, 0) if not len(value) or is_list_of_numbers(value) else None
    if not is_convertible(value):
        return None
    beside = as_neighbour(beside)
    if beside is None and isinstance(value, np.generic):
        return borrowed(np.asarray(value))
    return weak_number(python_number(value), beside)


cdef int refuse_results(object value) except -1:
    """``x - x.max(dim)`` would compute with values and indices."""
    name = getattr(value, "name_of_op", None)
    if isinstance(name, str):
        fields = ", ".join(value._fields)
        raise TypeError(
            f"the result of {name}() is a tuple ({fields}), and no tensor: take one of them, such as .{value._fields[0]}"
            + ("; what NumPy calls max(axis) and min(axis) is amax(dim) and amin(dim)" if name in ("max", "min") else "")
        )
    return 0


cdef TensorBase borrowed(object array):
    """A tensor over the user's memory, which neither it nor its views can write."""
    cdef TensorBase tensor
    if not cnp.PyArray_CheckExact(array) and is_masked(array):
        return None         # the mask would be lost
    tensor = <TensorBase>from_shared_array(array)
    cnp.PyArray_CLEARFLAGS(<cnp.ndarray>tensor.array, cnp.NPY_ARRAY_WRITEABLE)
    return tensor


cdef bint is_masked(object array) except -1:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


cdef object as_neighbour(object value):
    """The tensor or array whose dtype counts, or None."""
    if isinstance(value, ARRAYS):
        return value
    return np.asarray(value) if isinstance(value, LISTS) and is_list_of_plain_numbers(value) else None


cdef bint is_list_of_plain_numbers(object value) except -1:
    return is_list_of_numbers(value) and not has_tensors(value, 0)


cdef TensorBase weak_number(object number, object beside):
    if type(number) is bool or beside is None:
        return number_as_tensor(number, None)
    if type(number) is int and beside.dtype.kind not in "iu":
        return number_as_tensor(number, None)
    return number_as_tensor(number, beside)


cdef TensorBase number_as_tensor(object number, object beside):
    beside = as_neighbour(beside)
    return wrap(np.array(number, dtypes.number_dtype(number) if beside is None else dtype_beside(number, beside)))


cdef object dtype_beside(object number, object beside):
    """Of a number beside a tensor; as `result_type` has it, which takes its time."""
    dtype = beside.dtype
    kind = type(number)
    if dtype.kind == "c" or (dtype.kind == "f" and kind is not complex) or (dtype.kind in "iu" and kind in (int, bool)):
        return dtype
    return dtypes.result_type(number, beside)


# ---- lists

cdef TensorBase of_list(object value, object beside, int depth):
    if has_tensors(value, 0):
        return stacked(value, beside, depth)
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        return None
    if is_plain(value) and array.dtype.kind in "fc" or not array.size:
        array = array.astype(weak_dtype(array.dtype.kind, as_neighbour(beside)), copy=False)
    return wrap(np.array(array))


cdef object weak_dtype(str kind, object beside):
    cdef object example = 1.0       # an object: Cython would make both numbers complex
    if kind == "c":
        example = 1j
    return dtypes.number_dtype(example) if beside is None else dtypes.result_type(example, beside)


cdef bint is_plain(object value) except -1:
    """Is the first number one of Python's own, so that nobody chose its dtype?"""
    while isinstance(value, LISTS) and len(value):
        value = value[0]
    return not isinstance(value, NUMPY_OPERANDS) and not isinstance(value, np.generic)


cdef bint has_tensors(object value, int depth) except -1:
    if depth > DEEPEST_LIST:
        raise TypeError("expected a tensor, but got lists that are nested too deeply")
    for item in value:
        if isinstance(item, TensorBase) or isinstance(item, LISTS) and has_tensors(item, depth + 1):
            return True
    return False


cdef TensorBase stacked(object value, object beside, int depth):
    cdef list parts = []
    for item in value:
        part = item if isinstance(item, TensorBase) else part_of_list(item, beside, depth + 1)
        if part is None:
            return None
        parts.append(part)
    return <TensorBase>upcalls.stack(parts)


cdef object part_of_list(object item, object beside, int depth):
    return of_list(item, beside, depth) if isinstance(item, LISTS) else expect_tensor(item, beside)
