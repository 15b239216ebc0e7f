"""Helpers of ops of matrices; the types that formulas may call them with are in the .pxd."""

import math

from gradsmith.runtime.formulas.numbers cimport reduced_axes, wrapped

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.graph.tensor import array_behind

_ORDERS = {1: "1", -1: "-1", 2: "2", -2: "-2", math.inf: "inf", -math.inf: "-inf"}


# ---- norms


cpdef object matrix_order(object order):
    """The order of a matrix norm as a word."""
    if order in ("fro", "nuc", "inf", "-inf"):
        return order
    if not isinstance(order, str) and order in _ORDERS:
        return _ORDERS[order]
    raise RuntimeError(
        f"linalg.matrix_norm: Order {order!r} not supported; expected 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2"
    )


cpdef object vector_order(object order):
    if isinstance(order, str) and order not in ("inf", "-inf"):
        raise RuntimeError(f"linalg.norm: the order {order!r} is one of matrices; the order of a vector is a number")
    return 2.0 if order is None else float(order)


cpdef object kind_of_norm(object order, object dim, object ndim):
    """Is the norm one of all elements, of vectors along a dimension, or of matrices?"""
    if order is None:
        return "elements"
    if dim is None and ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D; name dim"
        )
    count = ndim if dim is None else len(dim)
    if count not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    return "vectors" if count == 1 else "matrices"


# ---- tensordot


cpdef object contracted(object a, object b, object dims):
    """Sums of products over dimensions of both; what is multiplied with one number all along one is summed before."""
    cdef list left, right, of_left, of_right
    left, right = contracted_dims(dims, a.shape, b.shape)
    a, b = summed_beside_ones(a, left, b.shape, right), summed_beside_ones(b, right, a.shape, left)
    of_left, of_right = dims_besides(a.ndim, left), dims_besides(b.ndim, right)
    product = ordered(a, of_left, left).matmul(ordered(b, right, of_right))
    if len(of_left) == len(of_right) == 1:
        return product
    return product.reshape([a.shape[dim] for dim in of_left] + [b.shape[dim] for dim in of_right])


cdef tuple contracted_dims(object dims, object left, object right):
    """The dimensions that a tensordot sums over, of the left operand and of the right one."""
    cdef list of_left, of_right
    if isinstance(dims, int):
        if not 0 <= dims <= min(len(left), len(right)):
            raise RuntimeError(f"tensordot(): expects dims >= 0 and at most those of both operands, but got dims={dims}")
        of_left, of_right = list(range(len(left) - dims, len(left))), list(range(dims))
    else:
        of_left, of_right = _listed(dims[0], left), _listed(dims[1], right)
    cdef bint fit = len(of_left) == len(of_right)
    for one, other in zip(of_left, of_right):
        fit = fit and (left[one] == right[other] or left[one] == 1 or right[other] == 1)
    if not fit:
        raise RuntimeError(
            f"tensordot(): contracted dimensions need to match, but those of sizes {[left[dim] for dim in of_left]} "
            f"meet {[right[dim] for dim in of_right]}"
        )
    return of_left, of_right


cdef object summed_beside_ones(object a, list dims, object sizes, list others):
    """Summed over those of `dims` that are longer than 1, where the other operand's, of these sizes, are not."""
    cdef list long = [dim for dim, beside in zip(dims, others) if sizes[beside] == 1 != a.shape[dim]]
    return a.sum(long, True, dtype=a.dtype) if long else a


cdef list dims_besides(int ndim, list dims):
    return [dim for dim in range(ndim) if dim not in dims]


cdef object ordered(object a, list first, list last):
    """A matrix whose rows go over the `first` dimensions and columns over the `last` ones.

    There is no view where the dimensions lie so already.
    """
    cdef list order = [*first, *last]
    cdef int ndim = len(order)
    shape = a.shape
    if order != [*range(ndim)]:
        a = a.permute(order)
    if len(first) == len(last) == 1:
        return a
    return a.reshape((math.prod([shape[dim] for dim in first]), math.prod([shape[dim] for dim in last])))


def _listed(object part, object shape):
    return [wrapped(int(dim), len(shape)) for dim in ([part] if isinstance(part, int) else part)]


cpdef object first_of_three(object shape):
    """The dimension of a cross product that names none."""
    if 3 not in shape:
        raise RuntimeError(f"cross(): no dimension of size 3 in input; its sizes are {list(shape)}")
    return shape.index(3)


cpdef object as_matrices(object tensors):
    """The factors of a product, of which the first may be a row and the last a column."""
    for i, tensor in enumerate(tensors):
        if tensor.ndim != 2 and not (tensor.ndim == 1 and i in (0, len(tensors) - 1)):
            raise RuntimeError(
                f"multi_dot(): tensor {i} must be 2D{' or 1D' if i in (0, len(tensors) - 1) else ''} but got {tensor.ndim}D"
            )
    found = list(tensors)
    if not found:
        return found
    first, last = found[0], found[len(found) - 1]
    found[0] = first.unsqueeze(0) if first.ndim == 1 else first
    found[len(found) - 1] = last.unsqueeze(-1) if last.ndim == 1 else last
    return found


cpdef object as_stacks(object matrices):
    """The factors of a product, which are matrices or batches of them."""
    for i, matrix in enumerate(matrices):
        if matrix.ndim < 2:
            raise RuntimeError(f"chain_matmul(): tensor {i} must be a matrix or a batch of them but got {matrix.ndim}D")
    return matrices


# ---- Kronecker product


cpdef object kron_factor_shape(object left, object right, object side):
    """Sizes between ones, so that each size of one operand, `side` 0 or 1, meets one of the other."""
    cdef Py_ssize_t ndim = max(len(left), len(right)), place
    own = right if side else left
    cdef list found = [1] * (2 * ndim)
    place = 2 * (ndim - len(own)) + (1 if side else 0)
    for size in own:
        found[place] = size
        place += 2
    return found


cpdef object kron_shape(object left, object right):
    cdef Py_ssize_t extra = len(left) - len(right), place
    longer, shorter = (left, right) if extra >= 0 else (right, left)
    cdef list found = list(longer)
    place = abs(extra)
    for size in shorter:
        found[place] = found[place] * size
        place += 1
    return found


# ---- elimination


cpdef object dividing_steps(object shape):
    """How many pivots of a matrix divide something: that of the last row has nothing below it."""
    *_, rows, columns = shape
    return min(max(rows - 1, 0), columns)


# ---- systems of equations


cpdef object square_sizes(object op, object shape, object count):
    """Rows and columns of a tensor as a matrix, whose rows are its first `count` dimensions."""
    rows, columns = math.prod(shape[:count]), math.prod(shape[count:])
    if rows != columns:
        raise RuntimeError(
            f"{op}: expected as many elements in the first {count} dimensions as in the rest, but those of sizes "
            f"{list(shape)} have {rows} and {columns}"
        )
    return [rows, columns]


cpdef object with_last(object ndim, object dims):
    """The order of dimensions in which those named are last."""
    last = [wrapped(dim, ndim) for dim in dims]
    return [dim for dim in range(ndim) if dim not in last] + last


cdef bint is_vector(object a, object b):
    """Whether the right-hand sides are one vector for each matrix."""
    return b.ndim == 1 or list(b.shape) == list(a.shape)[:a.ndim - 1]


cpdef object right_columns(object a, object b):
    return b.unsqueeze(-1) if is_vector(a, b) else b


cpdef object like_right(object x, object a, object b):
    """A solution for columns as one for vectors, if that is what was given."""
    return x.squeeze(-1) if is_vector(a, b) else x


cpdef object of_matrices(object x, object a, object ndim):
    """What is found out about the matrices, without repetitions for right sides that share one; `ndim` numbers of each."""
    if 0 in x.shape:
        return x
    extra = x.ndim - ndim - (a.ndim - 2)
    for _ in range(extra):
        x = x.select(0, 0)
    for dim in range(a.ndim - 2):
        x = x.narrow(dim, 0, a.shape[dim])
    return x


cpdef object squares_left(object a, object b, object x, object rank, object driver):
    """Sums of squares of what a solution leaves, or nothing where every equation can be solved, or there are many solutions."""
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), but got {driver!r}"
        )
    rest = b - a.matmul(x)
    rest = (rest * rest.conj()).real.sum(-2)
    rows, columns = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    if rows <= columns or driver == "gelsy":
        return nothing_of(rest)
    return nothing_of(rest) if driver != "gels" and is_less(rank, columns) else rest


cpdef object unless_driver(object x, object driver, object without):
    """What a driver of LAPACK finds out; nothing with one of those that do without: "gels", or "gels gelsy"."""
    return nothing_of(x) if driver is not None and driver in without.split() else x


cdef object nothing_of(object x):
    return x.reshape(-1)[:0]


cdef bint is_less(object rank, object columns) except -1:
    """Is a rank less than that number, as far as it is known: under `vmap` and on the meta device it is not."""
    cdef object values = array_behind(rank)
    return not has_no_data(values) and bool((values < columns).any())


# ---- multiples


cpdef object scaled_by(object self, object number):
    """A term of `addr`, times `beta` or `alpha`; itself for one, without a copy."""
    if type(number) is bool or self.dtype.kind in "biu" or type(number) is complex:
        check_factor(self.dtype, number)
    return self if number == 1 else self * number


cpdef object scaled_term(object self, object number, object other):
    """A term of `addmm` and its like, times `beta` or `alpha`; of integers without the fraction, as in PyTorch."""
    if self.dtype.kind in "iu" and other.dtype.kind in "iu" and type(number) is not complex:
        number = int(number)
    elif self.dtype.kind == "b" or type(number) is complex:
        check_factor(self.dtype, number)
    return self if number == 1 else self * number


cdef int check_factor(object dtype, object number) except -1:
    if isinstance(number, bool) and dtype.kind != "b":
        raise RuntimeError(f"Boolean beta and alpha are only supported for Boolean results; the tensors are {dtype}")
    if dtype.kind in "biu" and not isinstance(number, int):
        raise RuntimeError(
            f"For integral input tensors, beta and alpha must not be floating point numbers: got {number} for {dtype}; "
            "convert the tensors with .float()"
        )
    if dtype.kind == "f" and isinstance(number, complex):
        raise RuntimeError(f"For real input tensors, beta and alpha must be real: got {number} for {dtype}")
    return 0
