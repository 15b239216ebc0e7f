"""How the arrays of a traced run lie: facts that a plan needs, gathered into lists, and copies that lie alike.

A long trace has hundreds of thousands of values, and reading one attribute of an array from Python costs half a microsecond.
"""
from libc.stdint cimport uintptr_t
cimport numpy as cnp

from gradsmith.runtime.graph.tensor cimport TensorBase

import numpy as np

cnp.import_array()


def described(list tensors not None):
    """Arrays of tensors; their addresses; ids of the arrays that own their memory; and numbers of their layouts.

    Two arrays have the same number if dtype, shape and strides, which come last, are the same.
    """
    cdef list arrays = [], addresses = [], owners = [], layouts = []
    cdef dict numbers = {}
    cdef object array, owner
    for tensor in tensors:
        array = owner = <object>(<TensorBase?>tensor).array
        while isinstance(owner.base, cnp.ndarray):
            owner = owner.base
        arrays.append(array)
        addresses.append(<uintptr_t>cnp.PyArray_DATA(<cnp.ndarray>array))
        owners.append(id(owner))
        layouts.append(numbers.setdefault((array.dtype, array.shape, array.strides), len(numbers)))
    return arrays, addresses, owners, layouts, list(numbers)


def copied_as_it_lies(cnp.ndarray array not None):
    """A copy with the same strides, also where there are gaps between the elements: a program takes strides for granted."""
    cdef object copy = cnp.PyArray_NewCopy(array, cnp.NPY_KEEPORDER)
    cdef int i
    for i in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_STRIDE(<cnp.ndarray>copy, i) != cnp.PyArray_STRIDE(array, i):
            return copied_with_gaps(array)
    return copy


cdef object copied_with_gaps(object array):
    if array.size == 0:
        return array.copy()
    first, end = np.lib.array_utils.byte_bounds(array)
    memory = np.zeros(end - first, np.uint8)
    found = np.ndarray(array.shape, array.dtype, memory, <uintptr_t>cnp.PyArray_DATA(array) - first, array.strides)
    np.copyto(found, array)
    return found
