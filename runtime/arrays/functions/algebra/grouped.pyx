"""Products of rows that hold several groups, each with a matrix of its own: (rows, groups, inner), (groups, inner, columns).

Results lie row by row, which the product of a transposed view would not. See Note [Groups] in groups.c.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport contiguous, is_meta, matmul, outers_of_groups, rows_of_groups
from gradsmith.runtime.arrays.functions.algebra.linalg cimport check_ndim
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

cnp.import_array()

cdef extern from "runtime/arrays/kernels/products/groups.h":
    ctypedef struct Job "gs_groups":
        int type
        cnp.npy_intp rows, groups, inner, columns
        char *a
        char *b
        char *result
        cnp.npy_intp a_row, a_group, b_group, b_row, b_column, result_row, result_group


cpdef object rows_of_groups_of(object a, object b):
    """(rows, groups, inner) and (groups, inner, columns): (rows, groups, columns)."""
    check_ndim("rows_of_groups", a, b, 3, 3)
    if a.shape[1] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"rows_of_groups(): sizes {list(a.shape)} and {list(b.shape)} cannot be multiplied: the second should be "
            f"[{a.shape[1]}, {a.shape[2]}, ...]"
        )
    cdef int type_number = cnp.PyArray_TYPE(a)
    cdef tuple shape = (a.shape[0], a.shape[1], b.shape[2])
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>b):
        return fresh_beside(a if is_meta(<PyObject *>a) else b, type_number, shape)
    result = None
    if has_kernel(type_number):
        result = with_kernel_of_rows(in_rows(a), in_matrices(b), fresh(type_number, shape))
    return packed(product(a.transpose(1, 0, 2), b).transpose(1, 0, 2)) if result is None else result


cdef object with_kernel_of_rows(object a, object b, object result):
    """The result, filled; None where it cannot be."""
    cdef Job job
    set_left(&job, a)
    job.columns, job.b = b.shape[2], cnp.PyArray_BYTES(b)
    job.b_group, job.b_row, job.b_column = b.strides
    job.result, job.result_row, job.result_group = cnp.PyArray_BYTES(result), result.strides[0], result.strides[1]
    return result if rows_of_groups(&job) else None


cpdef object outers_of_groups_of(object a, object b):
    """(rows, groups, inner) and (rows, groups, columns): (groups, inner, columns)."""
    check_ndim("outers_of_groups", a, b, 3, 3)
    if a.shape[:2] != b.shape[:2]:
        raise RuntimeError(
            f"outers_of_groups(): sizes {list(a.shape)} and {list(b.shape)} differ in the number of rows or of groups"
        )
    cdef int type_number = cnp.PyArray_TYPE(a)
    cdef tuple shape = (a.shape[1], a.shape[2], b.shape[2])
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>b):
        return fresh_beside(a if is_meta(<PyObject *>a) else b, type_number, shape)
    result = None
    if has_kernel(type_number):
        result = with_kernel_of_outers(in_rows(a), in_rows(b), fresh(type_number, shape))
    return product(a.transpose(1, 2, 0), b.transpose(1, 0, 2)) if result is None else result


cdef object with_kernel_of_outers(object a, object b, object result):
    cdef Job job
    set_left(&job, a)
    job.columns, job.b = b.shape[2], cnp.PyArray_BYTES(b)
    job.b_row, job.b_group = b.strides[0], b.strides[1]
    job.result = cnp.PyArray_BYTES(result)
    return result if outers_of_groups(&job) else None


cdef object product(object a, object b):
    return take(matmul(<PyObject *>a, <PyObject *>b))


cdef bint has_kernel(int type_number) noexcept:
    return type_number in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128)


cdef int set_left(Job *job, object a) except -1:
    job.type, job.a = cnp.PyArray_TYPE(a), cnp.PyArray_BYTES(a)
    job.rows, job.groups, job.inner = a.shape
    job.a_row, job.a_group = a.strides[0], a.strides[1]
    return 0


cdef object in_rows(object a):
    """Columns side by side, rows and groups a multiple of an element apart, without overlap: as BLAS takes them."""
    rows, groups, columns = a.shape
    size = a.itemsize
    wide = columns * size
    steps = [step for step, length in zip(a.strides[:2], (rows, groups)) if length > 1]
    plain = a.flags.aligned and (columns < 2 or a.strides[2] == size)
    return a if plain and all([step >= wide and step % size == 0 for step in steps]) else packed(a)


cdef object in_matrices(object b):
    """Each matrix row by row or column by column."""
    groups, rows, columns = b.shape
    size = b.itemsize
    _, row, column = b.strides
    by_rows = column == size and row >= columns * size
    by_columns = row == size and column >= rows * size
    whole = b.flags.aligned and not any([step % size for step in b.strides])
    return b if whole and (by_rows or by_columns) else packed(b)


cdef object packed(object a):
    """A copy where one is needed; dimensions of one element get usual strides too."""
    return take(contiguous(<PyObject *>a))
