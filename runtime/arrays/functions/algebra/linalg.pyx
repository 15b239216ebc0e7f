"""Matrix products: shapes checked here with errors that name them, products by runtime/arrays/array."""

from cpython.ref cimport PyObject
from libc.stdint cimport uintptr_t
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    ADD,
    MULTIPLY,
    binary,
    binary_into,
    binary_scalar,
    binary_scalar_into,
    contiguous,
    copy_into,
    empty_array,
    is_meta,
    linear,
    matmul,
    matmul_transposed,
)
from gradsmith.runtime.arrays.functions.indexed cimport apart_from
from gradsmith.runtime.arrays.functions.ownership cimport take
from gradsmith.runtime.arrays.functions.shapes cimport broadcast_sizes, expand_of, reshape_of, unsqueeze_of

import math

import numpy as np

from gradsmith.runtime.arrays.array import kernel_addresses
from gradsmith.runtime.arrays.functions.shapes import broadcast_shape

cnp.import_array()

ctypedef fused real:
    float
    double


cdef int check_types(str op, object a, object b) except -1:
    if cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(b):
        return 0
    raise RuntimeError(f"{op}(): expected both operands to have the same dtype, but got {a.dtype} and {b.dtype}")


cdef str sizes(object a, object b):
    return f"{list(a.shape)} and {list(b.shape)}"


# ---- any operands

cpdef object matmul_of(object a, object b):
    check_types("matmul", a, b)
    if cnp.PyArray_NDIM(a) == 2 and cnp.PyArray_NDIM(b) == 2:
        check_inner("matmul", a, b)
    else:
        check_matmul(a, b)
    return take(matmul(<PyObject *>a, <PyObject *>b))


cpdef object product_of(object a, object b):
    """The same of sizes that go together, and of any dtypes."""
    return take(matmul(<PyObject *>a, <PyObject *>b))


cpdef object matmul_of_transpose_of(object a, object b):
    """All rows of `a`, as one matrix, transposed, times all rows of `b`."""
    check_types("matmul", a, b)
    if a.ndim < 2 or a.ndim != b.ndim or a.shape[:a.ndim - 1] != b.shape[:b.ndim - 1]:
        raise RuntimeError(f"matmul_of_transpose(): matrices with as many rows are expected, but got sizes {sizes(a, b)}")
    if a.ndim > 2:
        rows = math.prod(a.shape[:a.ndim - 1])
        a, b = reshape_of(a, (rows, a.shape[a.ndim - 1])), reshape_of(b, (rows, b.shape[b.ndim - 1]))
    return take(matmul_transposed(<PyObject *>a, True, <PyObject *>b, False))


cdef int check_inner(str op, object a, object b) except -1:
    """Two matrices: columns of the first, rows of the second."""
    if cnp.PyArray_DIM(a, 1) == cnp.PyArray_DIM(b, 0):
        return 0
    raise RuntimeError(
        f"{op}(): mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
        f"{b.shape[0]}x{b.shape[1]})"
    )


cdef int check_matmul(object a, object b) except -1:
    cdef int ndim_a = cnp.PyArray_NDIM(a), ndim_b = cnp.PyArray_NDIM(b)
    cdef int i
    cdef npy_intp columns, rows, one, other
    if ndim_a == 0 or ndim_b == 0:
        raise RuntimeError(f"matmul(): both arguments need to be at least 1D, but they are {ndim_a}D and {ndim_b}D")
    columns = cnp.PyArray_DIM(a, ndim_a - 1)
    rows = cnp.PyArray_DIM(b, ndim_b - 2 if ndim_b > 1 else 0)
    if columns != rows:
        raise RuntimeError(f"matmul(): sizes {sizes(a, b)} cannot be multiplied: {columns} columns meet {rows} rows")
    for i in range(3, min(ndim_a, ndim_b) + 1):     # from the last but two on
        one, other = cnp.PyArray_DIM(a, ndim_a - i), cnp.PyArray_DIM(b, ndim_b - i)
        if one != other and one != 1 and other != 1:
            raise RuntimeError(
                f"matmul(): the batch dimensions of sizes {sizes(a, b)} do not broadcast: {one} against {other}"
            )
    return 0


# ---- operands of a certain number of dimensions

cdef int check_ndim(str op, object a, object b, int ndim_a, int ndim_b) except -1:
    if cnp.PyArray_NDIM(a) == ndim_a and cnp.PyArray_NDIM(b) == ndim_b:
        return check_types(op, a, b)
    raise RuntimeError(f"{op}(): expected a {ndim_a}-D and a {ndim_b}-D tensor, but got sizes {sizes(a, b)}")


cpdef object mm_of(object a, object b):
    check_ndim("mm", a, b, 2, 2)
    check_inner("mm", a, b)
    return take(matmul(<PyObject *>a, <PyObject *>b))


cpdef object bmm_of(object a, object b):
    check_ndim("bmm", a, b, 3, 3)
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"bmm(): sizes {sizes(a, b)} cannot be multiplied: the second should be [{a.shape[0]}, {a.shape[2]}, ...]"
        )
    return take(matmul(<PyObject *>a, <PyObject *>b))


cpdef object mv_of(object a, object b):
    check_ndim("mv", a, b, 2, 1)
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mv(): a matrix of size {list(a.shape)} cannot be multiplied by a vector of size {b.shape[0]}"
        )
    return take(matmul(<PyObject *>a, <PyObject *>b))


cpdef object dot_of(object a, object b):
    check_ndim("dot", a, b, 1, 1)
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(f"dot(): the vectors have {a.shape[0]} and {b.shape[0]} elements")
    return take(matmul(<PyObject *>a, <PyObject *>b))


cpdef object outer_of(object a, object b):
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"outer(): expected two 1-D tensors, but got sizes {sizes(a, b)}")
    column = unsqueeze_of(a, 1)
    return take(binary(MULTIPLY, <PyObject *>column, <PyObject *>b))


# ---- linear

cpdef object cross_product_of(object a, object b):
    """Of vectors of three elements along the last dimension."""
    cdef int type_num = cnp.PyArray_TYPE(a)
    cdef bint is_usual = type_num == cnp.PyArray_TYPE(b) and type_num in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64)
    is_usual = is_usual and not is_meta(<PyObject *>a) and not is_meta(<PyObject *>b)
    shape = broadcast_sizes(a, b) or broadcast_shape(a.shape, b.shape)
    if not is_usual or shape[len(shape) - 1] != 3:
        return np.ascontiguousarray(np.cross(a, b))
    a, b = expand_of(a, shape), expand_of(b, shape)
    a, b = take(contiguous(<PyObject *>a)), take(contiguous(<PyObject *>b))
    found = take(empty_array(type_num, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a)))
    if type_num == cnp.NPY_FLOAT32:
        cross_rows[float](<float *>data_of(a), <float *>data_of(b), <float *>data_of(found), a.size)
    else:
        cross_rows[double](<double *>data_of(a), <double *>data_of(b), <double *>data_of(found), a.size)
    return found


cdef inline void *data_of(object a) noexcept:
    return cnp.PyArray_DATA(<cnp.ndarray>a)


cdef void cross_rows(real *a, real *b, real *found, npy_intp size) noexcept nogil:
    cdef npy_intp i
    for i in range(0, size, 3):
        found[i] = a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1]
        found[i + 1] = a[i + 2] * b[i] - a[i] * b[i + 2]
        found[i + 2] = a[i] * b[i + 1] - a[i + 1] * b[i]


cpdef object linear_of(object x, object weight, object bias):
    """x @ weight.T + bias; a weight of one dimension is a single row that leaves none behind."""
    check_linear(x, weight, bias)
    if cnp.PyArray_NDIM(weight) == 1 or bias is not None and cnp.PyArray_NDIM(bias) > 1:
        product = take(matmul(<PyObject *>x, <PyObject *>weight.T))
        return product if bias is None else take(binary(ADD, <PyObject *>product, <PyObject *>bias))
    return take(linear(<PyObject *>x, <PyObject *>weight, NULL if bias is None else <PyObject *>bias))


cdef bint fits_as_bias(object bias, object x, object weight) except -1:
    """A number, one element for each row of the weight or for all; or what broadcasts to the shape of the product."""
    if cnp.PyArray_NDIM(bias) == 0:
        return True
    if cnp.PyArray_NDIM(bias) == 1 and cnp.PyArray_NDIM(weight) == 2:
        return cnp.PyArray_DIM(bias, 0) in (1, cnp.PyArray_DIM(weight, 0))
    product = (*x.shape[:x.ndim - 1], *weight.shape[:weight.ndim - 1])
    return bias.ndim <= len(product) and all([
        size in (1, other) for size, other in zip(bias.shape, product[len(product) - bias.ndim:])
    ])


cdef int check_linear(object x, object weight, object bias) except -1:
    cdef int ndim = cnp.PyArray_NDIM(weight)
    check_types("linear", x, weight)
    if cnp.PyArray_NDIM(x) == 0 or ndim == 0 or ndim > 2:
        raise RuntimeError(
            f"linear(): expected an input of at least 1-D and a weight of 1-D or 2-D, but got sizes {sizes(x, weight)}"
        )
    if cnp.PyArray_DIM(x, cnp.PyArray_NDIM(x) - 1) != cnp.PyArray_DIM(weight, ndim - 1):
        raise RuntimeError(
            f"linear(): input and weight shapes cannot be multiplied: {sizes(x, weight)}, "
            f"{x.shape[x.ndim - 1]} features against {weight.shape[ndim - 1]}"
        )
    if bias is None:
        return 0
    check_types("linear", x, bias)
    if not fits_as_bias(bias, x, weight):
        raise RuntimeError(
            f"linear(): a bias of size {list(bias.shape)} does not fit an input of size {list(x.shape)} and a weight of size "
            f"{list(weight.shape)}"
        )
    return 0


# ---- added to what is there

# Of runtime/arrays/kernels/products/matmul.c: 0 when it is not for such matrices.
ctypedef int (*Adding)(int, const npy_intp *, const npy_intp *, char *, char *, char *) except -1

cdef Adding add_to = <Adding><uintptr_t>kernel_addresses()["add_product"]

# With short sums a product is written faster than memory takes it. It is computed a piece at a time then, which is added
# while it is in the cache.
cdef enum:
    SHORT_SUM = 32
    PIECE = 32768           # elements


cdef bint add_product(object a, object x, object y, object beta, object alpha, int ndim) except -1:
    cdef npy_intp start, step
    if not fits_product(a, x, y, ndim) or not (is_factor(beta, a.dtype) and is_factor(alpha, a.dtype)):
        return False
    x, y = apart_from(a, x), apart_from(a, y)
    step = max(a.shape[0], 1)
    if ndim == 3 or x.shape[1] <= SHORT_SUM:
        step = max(PIECE * step // max(a.size, 1), 1)
    for start in range(0, a.shape[0], step):
        rows = slice(start, start + step)
        add_piece(a[rows], x[rows], y if ndim == 2 else y[rows], beta, alpha)
    return True


cdef bint fits_product(object a, object x, object y, int ndim) except -1:
    if not a.ndim == x.ndim == y.ndim == ndim or a.dtype.kind not in "fc" or not a.dtype == x.dtype == y.dtype:
        return False
    if ndim == 3 and not a.shape[0] == x.shape[0] == y.shape[0]:
        return False
    return a.shape[ndim - 2:] == (x.shape[ndim - 2], y.shape[ndim - 1]) and x.shape[ndim - 1] == y.shape[ndim - 2]


cdef bint is_factor(object number, object dtype) except -1:
    return isinstance(number, (int, float)) or isinstance(number, complex) and dtype.kind == "c"


cdef int add_piece(object a, object x, object y, object beta, object alpha) except -1:
    if beta != 1 and beta != 0:
        binary_scalar_into(MULTIPLY, <PyObject *>a, beta, False, <PyObject *>a)
    if beta != 0 and adds_directly(a, x, y, alpha):
        return 0
    product = take(matmul(<PyObject *>x, <PyObject *>y))
    if alpha != 1:
        binary_scalar_into(MULTIPLY, <PyObject *>product, alpha, False, <PyObject *>product)
    if beta == 0:       # whatever is there
        return copy_into(<PyObject *>a, <PyObject *>product)
    return binary_into(ADD, <PyObject *>a, <PyObject *>product, <PyObject *>a)


cdef bint adds_directly(object a, object x, object y, object alpha) except -1:
    """By the kernel that adds to what is there, where there is one for matrices like these."""
    cdef int type_number = cnp.PyArray_TYPE(a), last = cnp.PyArray_NDIM(a) - 1
    cdef npy_intp i, count = cnp.PyArray_DIM(a, 0) if last == 2 else 1
    cdef npy_intp sizes[3]
    cdef npy_intp strides[5]
    cdef npy_intp steps[3]
    cdef char *to = cnp.PyArray_BYTES(a)
    cdef char *left
    cdef char *right
    if type_number != cnp.NPY_FLOAT32 and type_number != cnp.NPY_FLOAT64:
        return False
    if cnp.PyArray_STRIDE(a, last) != cnp.PyArray_ITEMSIZE(a) or cnp.PyArray_SIZE(a) == 0:
        return False
    if alpha != 1:
        x, y = scaled_one(x, y, alpha)
    sizes = [cnp.PyArray_DIM(x, last - 1), cnp.PyArray_DIM(x, last), cnp.PyArray_DIM(y, last)]
    strides = [
        cnp.PyArray_STRIDE(x, last - 1), cnp.PyArray_STRIDE(x, last), cnp.PyArray_STRIDE(y, last - 1),
        cnp.PyArray_STRIDE(y, last), cnp.PyArray_STRIDE(a, last - 1),
    ]
    steps = [cnp.PyArray_STRIDE(a, 0), cnp.PyArray_STRIDE(x, 0), cnp.PyArray_STRIDE(y, 0)]
    left, right = cnp.PyArray_BYTES(x), cnp.PyArray_BYTES(y)
    for i in range(count):
        if not add_to(type_number, sizes, strides, left + i * steps[1], right + i * steps[2], to + i * steps[0]):
            return False        # at the first one already
    return True


cdef tuple scaled_one(object x, object y, object alpha):
    """The smaller operand times a number."""
    smaller = x if x.size <= y.size else y
    scaled = take(binary_scalar(MULTIPLY, <PyObject *>smaller, alpha, False))
    return (scaled, y) if smaller is x else (x, scaled)


# ---- products of several matrices

cdef enum:
    MOST_PLANS = 256

cdef dict plans = {}        # by sizes: where to split each part of a chain


cpdef object chain_of(list matrices):
    """The product, of batches too, in the order that needs the fewest multiplications."""
    cdef list sizes
    if not matrices or any([cnp.PyArray_NDIM(matrix) < 2 for matrix in matrices]):
        raise RuntimeError("multi_dot(): expected matrices, at least one of them")
    sizes = [cnp.PyArray_DIM(matrices[0], cnp.PyArray_NDIM(matrices[0]) - 2)]
    for matrix in matrices:
        if sizes[len(sizes) - 1] != cnp.PyArray_DIM(matrix, cnp.PyArray_NDIM(matrix) - 2):
            left = matrices[len(sizes) - 2]
            raise RuntimeError(
                f"multi_dot(): tensors of shapes {list(left.shape)} and {list(matrix.shape)} cannot be multiplied"
            )
        sizes.append(cnp.PyArray_DIM(matrix, cnp.PyArray_NDIM(matrix) - 1))
    return product_of_part(matrices, cheapest_splits(tuple(sizes)), 0, len(matrices))


cdef dict cheapest_splits(tuple sizes):
    """Best place to split each part of a chain."""
    found = plans.get(sizes)
    if found is None:
        if len(plans) >= MOST_PLANS:
            plans.clear()
        plans[sizes] = found = computed_splits(sizes)
    return found


cdef dict computed_splits(tuple sizes):
    cdef Py_ssize_t count = len(sizes) - 1, length, i, k
    costs, splits = {(i, i + 1): 0 for i in range(count)}, {}
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            k = i + length
            by_split = {j: costs[i, j] + costs[j, k] + sizes[i] * sizes[j] * sizes[k] for j in range(i + 1, k)}
            splits[i, k] = min(by_split, key=by_split.__getitem__)
            costs[i, k] = by_split[splits[i, k]]
    return splits


cdef object product_of_part(list matrices, dict splits, Py_ssize_t start, Py_ssize_t stop):
    if stop - start == 1:
        return matrices[start]
    cdef Py_ssize_t split = splits[start, stop]
    return product_of(product_of_part(matrices, splits, start, split), product_of_part(matrices, splits, split, stop))
