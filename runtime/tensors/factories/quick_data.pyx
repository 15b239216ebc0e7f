"""Small tensors of Python's numbers, and of nested lists of them or of arrays, without NumPy's look at what they are.

The dtype follows the rules of `python_data`: the highest kind among the numbers decides. What has other leaves, lists
of different lengths, numbers that a double does not hold, or many elements, is left to that module: the result is None.
"""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_bool, npy_int64, npy_intp

from gradsmith.runtime.arrays.array cimport default_type, is_meta
from gradsmith.runtime.graph.tensor cimport REQUIRES_GRAD, TensorBase
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
    MOST_BYTES = 1 << 22        # from there on NumPy asks for huge pages
    FEW = 64

cdef long long EXACT = 1LL << 53        # up to here a double holds all whole numbers

cdef enum Kind:         # of numbers that have been read, as bits
    BOOLS = 1
    INTS = 2
    FLOATS = 4
    SINGLES = 8         # those of arrays and tensors, and NumPy's own, keep their dtype
    DOUBLES = 16


cdef struct Block:      # the shape of the arrays that the lists have for leaves; numbers are arrays without dimensions
    int nd
    npy_intp *dims
    npy_intp count


def of_data(data, dtype, device, requires_grad):
    """Tensor of a number, or of a list, tuple or range of numbers or arrays, of such lists, and so on."""
    if not is_flag(requires_grad):
        return None
    if type(data) is range and len(data) <= MOST_ELEMENTS:
        data = list(data)
    cdef npy_intp[MOST_DIMS] dims
    cdef npy_intp count = 1
    cdef Block block
    cdef int nd = shape_of(data, dims, &count, &block)
    if nd < 0:
        return None
    cdef double[FEW] few
    if count <= FEW:
        return of_values(data, nd, dims, count, &block, few, dtype, device, requires_grad)
    cdef double *values = <double *>PyMem_Malloc(count * sizeof(double))
    if values == NULL:
        raise MemoryError()
    try:
        return of_values(data, nd, dims, count, &block, values, dtype, device, requires_grad)
    finally:
        PyMem_Free(values)


def of_array(data, dtype, device, requires_grad):
    """Tensor with a copy of an array, in memory that begins where vectors are read at full speed."""
    if type(data) is not np.ndarray or not is_flag(requires_grad):
        return None
    cdef cnp.ndarray array = data
    if not cnp.PyArray_ISCARRAY_RO(array) or not 0 < cnp.PyArray_NBYTES(array) <= MOST_BYTES:
        return None
    cdef int type_num = type_of(dtype, cnp.PyArray_TYPE(array))
    if type_num != cnp.PyArray_TYPE(array):
        return None
    result = new_tensor(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), None, type_num, device, requires_grad)
    if result is not None:
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>(<TensorBase>result).array), cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
    return result


cdef int shape_of(object data, npy_intp *dims, npy_intp *count, Block *block) except -2:
    """As the first elements tell; -1 for what is empty, too deep or has too many elements."""
    cdef int nd = 0, i
    while type(data) is list or type(data) is tuple:
        if nd == MOST_DIMS:
            return -1
        dims[nd] = PySequence_Fast_GET_SIZE(data)
        count[0] *= dims[nd]
        if not 0 < count[0] <= MOST_ELEMENTS:
            return -1
        data = <object>PySequence_Fast_GET_ITEM(data, 0)
        nd += 1
    block.nd, block.dims, block.count = 0, dims + nd, 1
    cdef PyObject *array = array_of_leaf(data) if nd else NULL
    if array == NULL:
        return nd
    block.nd = cnp.PyArray_NDIM(<cnp.ndarray>array)
    if nd + block.nd > MOST_DIMS:
        return -1
    for i in range(block.nd):
        block.dims[i] = cnp.PyArray_DIM(<cnp.ndarray>array, i)
        block.count *= block.dims[i]
    count[0] *= block.count
    return nd + block.nd if 0 < count[0] <= MOST_ELEMENTS else -1


cdef PyObject *array_of_leaf(object leaf) except? NULL:
    """The array of a leaf whose elements lie one after another; borrowed. NULL for what is no such array.

    A tensor of one element is a number, whatever its dimensions: with some it is left to the long way.
    """
    cdef PyObject *array = <PyObject *>leaf
    if isinstance(leaf, TensorBase):
        if (<TensorBase>leaf).flags & REQUIRES_GRAD or is_meta((<TensorBase>leaf).array):
            return NULL
        array = <PyObject *>(<TensorBase>leaf).array
        if cnp.PyArray_SIZE(<cnp.ndarray>array) == 1 and cnp.PyArray_NDIM(<cnp.ndarray>array) != 0:
            return NULL
    elif type(leaf) is not np.ndarray:
        return NULL
    if not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>array):
        return NULL
    return array


cdef object of_values(
    object data, int nd, const npy_intp *dims, npy_intp count, Block *block, double *values, object dtype,
    object device, bint requires_grad
):
    cdef double *end = values
    cdef int kinds = 0
    if not read(data, nd - block.nd, dims, block, &end, &kinds):
        return None
    cdef int type_num = type_of(dtype, natural_type(kinds))
    if not is_written_as(type_num, kinds):
        return None
    result = new_tensor(nd, dims, None, type_num, device, requires_grad)
    if result is not None:
        write(values, count, type_num, cnp.PyArray_DATA(<cnp.ndarray>(<TensorBase>result).array))
    return result


cdef bint read(object data, int depth, const npy_intp *dims, Block *block, double **to, int *kinds) except -1:
    """Reads lists that are `depth` deep; False where one is no list, or of another length, or a leaf is no number."""
    cdef npy_intp place
    if depth == 0:
        return block.nd == 0 and read_number(data, to, kinds) or read_array(data, block, to, kinds)
    if type(data) is not list and type(data) is not tuple or PySequence_Fast_GET_SIZE(data) != dims[0]:
        return False
    for place in range(dims[0]):
        if not read(<object>PySequence_Fast_GET_ITEM(data, place), depth - 1, dims + 1, block, to, kinds):
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


cdef bint read_array(object leaf, Block *block, double **to, int *kinds) except -1:
    cdef PyObject *array = array_of_leaf(leaf)
    if array == NULL or cnp.PyArray_NDIM(<cnp.ndarray>array) != block.nd:
        return False
    cdef npy_intp i
    for i in range(block.nd):
        if cnp.PyArray_DIM(<cnp.ndarray>array, i) != block.dims[i]:
            return False
    cdef void *data = cnp.PyArray_DATA(<cnp.ndarray>array)
    cdef int type_num = cnp.PyArray_TYPE(<cnp.ndarray>array)
    for i in range(block.count):
        if type_num == cnp.NPY_FLOAT32:
            to[0][i] = (<float *>data)[i]
        elif type_num == cnp.NPY_FLOAT64:
            to[0][i] = (<double *>data)[i]
        elif type_num == cnp.NPY_INT64 and -EXACT <= (<npy_int64 *>data)[i] <= EXACT:
            to[0][i] = <double>(<npy_int64 *>data)[i]
        else:
            return False
    kinds[0] |= SINGLES if type_num == cnp.NPY_FLOAT32 else DOUBLES if type_num == cnp.NPY_FLOAT64 else INTS
    to[0] += block.count
    return True


cdef int natural_type(int kinds) noexcept:
    if kinds & DOUBLES:
        return cnp.NPY_FLOAT64
    if kinds & SINGLES:
        return cnp.NPY_FLOAT64 if kinds & FLOATS and default_type() == cnp.NPY_FLOAT64 else cnp.NPY_FLOAT32
    if kinds & FLOATS:
        return default_type()
    return cnp.NPY_INT64 if kinds & INTS else cnp.NPY_BOOL


cdef bint is_written_as(int type_num, int kinds) noexcept:
    """Whether numbers of these kinds become this dtype as they are, or rounded to float32."""
    if type_num == cnp.NPY_FLOAT32 or type_num == cnp.NPY_FLOAT64:
        return True
    if type_num == cnp.NPY_INT64:
        return not kinds & (FLOATS | SINGLES | DOUBLES)
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
