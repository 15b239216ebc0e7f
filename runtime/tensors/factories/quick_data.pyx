"""Small tensors of Python's numbers, and of nested lists of them, without NumPy's look at what they are.

The dtype follows the rules of `python_data`: the highest kind among the numbers decides. What has other leaves, lists
of different lengths, numbers that a double does not hold, or many elements, is left to that module: the result is None.
"""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
cimport numpy as cnp
from numpy cimport npy_bool, npy_int64, npy_intp

from gradsmith.runtime.arrays.array cimport default_type
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.tensors.factories.quick cimport is_flag, new_tensor, type_of

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    PyObject *PySequence_Fast_GET_ITEM(object sequence, Py_ssize_t place)       # of a list or tuple; borrowed
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)

cdef object NUMPY_FLOAT = np.float64

cdef enum:
    MOST_DIMS = 8
    MOST_ELEMENTS = 1 << 14     # more of them are faster in NumPy's hands
    FEW = 64

cdef long long EXACT = 1LL << 53        # up to here a double holds all whole numbers

cdef enum Kind:         # of numbers that have been read, as bits
    BOOLS = 1
    INTS = 2
    FLOATS = 4
    DOUBLES = 8         # NumPy's, which keep their dtype


def of_data(data, dtype, device, requires_grad):
    """Tensor of a number, or of a list or tuple of numbers, of such lists, and so on."""
    if not is_flag(requires_grad):
        return None
    cdef npy_intp[MOST_DIMS] dims
    cdef npy_intp count = 1
    cdef int nd = shape_of(data, dims, &count)
    if nd < 0:
        return None
    cdef double[FEW] few
    if count <= FEW:
        return of_values(data, nd, dims, count, few, dtype, device, requires_grad)
    cdef double *values = <double *>PyMem_Malloc(count * sizeof(double))
    if values == NULL:
        raise MemoryError()
    try:
        return of_values(data, nd, dims, count, values, dtype, device, requires_grad)
    finally:
        PyMem_Free(values)


cdef int shape_of(object data, npy_intp *dims, npy_intp *count) except -2:
    """As the first elements tell; -1 for what is empty, too deep or has too many elements."""
    cdef int nd = 0
    while type(data) is list or type(data) is tuple:
        if nd == MOST_DIMS:
            return -1
        dims[nd] = PySequence_Fast_GET_SIZE(data)
        count[0] *= dims[nd]
        if not 0 < count[0] <= MOST_ELEMENTS:
            return -1
        data = <object>PySequence_Fast_GET_ITEM(data, 0)
        nd += 1
    return nd


cdef object of_values(
    object data, int nd, const npy_intp *dims, npy_intp count, double *values, object dtype, object device,
    bint requires_grad
):
    cdef double *end = values
    cdef int kinds = 0
    if not read(data, nd, dims, &end, &kinds):
        return None
    cdef int type_num = type_of(dtype, natural_type(kinds))
    if not is_written_as(type_num, kinds):
        return None
    result = new_tensor(nd, dims, None, type_num, device, requires_grad)
    if result is not None:
        write(values, count, type_num, cnp.PyArray_DATA(<cnp.ndarray>(<TensorBase>result).array))
    return result


cdef bint read(object data, int depth, const npy_intp *dims, double **to, int *kinds):
    """Reads lists that are `depth` deep; False where one is no list, or of another length, or a leaf is no number."""
    cdef npy_intp place
    if depth == 0:
        return read_number(data, to, kinds)
    if type(data) is not list and type(data) is not tuple or PySequence_Fast_GET_SIZE(data) != dims[0]:
        return False
    for place in range(dims[0]):
        if not read(<object>PySequence_Fast_GET_ITEM(data, place), depth - 1, dims + 1, to, kinds):
            return False
    return True


cdef inline bint read_number(object number, double **to, int *kinds):
    cdef int overflow = 0
    cdef long long whole
    if PyFloat_CheckExact(number):
        kinds[0] |= FLOATS
        to[0][0] = PyFloat_AS_DOUBLE(number)
    elif PyLong_CheckExact(number):
        whole = PyLong_AsLongLongAndOverflow(number, &overflow)
        if overflow or not -EXACT <= whole <= EXACT:
            return False
        kinds[0] |= INTS
        to[0][0] = <double>whole
    elif number is True or number is False:
        kinds[0] |= BOOLS
        to[0][0] = number is True
    elif type(number) is NUMPY_FLOAT:
        kinds[0] |= DOUBLES
        to[0][0] = PyFloat_AS_DOUBLE(number)
    else:
        return False
    to[0] += 1
    return True


cdef int natural_type(int kinds) noexcept:
    if kinds & DOUBLES:
        return cnp.NPY_FLOAT64
    if kinds & FLOATS:
        return default_type()
    return cnp.NPY_INT64 if kinds & INTS else cnp.NPY_BOOL


cdef bint is_written_as(int type_num, int kinds) noexcept:
    """Whether numbers of these kinds become this dtype as they are, or rounded to float32."""
    if type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_FLOAT64:
        return True
    if type_num == cnp.NPY_INT64:
        return not kinds & (FLOATS | DOUBLES)
    return type_num == cnp.NPY_BOOL and kinds == BOOLS


cdef void write(const double *values, npy_intp count, int type_num, void *to) noexcept:
    cdef npy_intp i
    if type_num == cnp.NPY_FLOAT32:
        for i in range(count):
            (<float *>to)[i] = <float>values[i]
    elif type_num == cnp.NPY_FLOAT64:
        for i in range(count):
            (<double *>to)[i] = values[i]
    elif type_num == cnp.NPY_INT64:
        for i in range(count):
            (<npy_int64 *>to)[i] = <npy_int64>values[i]
    else:
        for i in range(count):
            (<npy_bool *>to)[i] = values[i] != 0
