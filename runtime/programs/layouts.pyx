"""Facts about the arrays of a traced run that a plan needs, gathered into lists.

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
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        arrays.append(array)
        addresses.append(<uintptr_t>cnp.PyArray_DATA(<cnp.ndarray>array))
        owners.append(id(owner))
        layouts.append(numbers.setdefault((array.dtype, array.shape, array.strides), len(numbers)))
    return arrays, addresses, owners, layouts, list(numbers)
