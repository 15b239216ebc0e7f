"""Loss functions whose value is more than a pointwise expression."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    SQUARE,
    SUBTRACT,
    binary,
    cast,
    class_losses,
    class_losses_backward,
    contiguous,
    full_array,
    is_meta,
    mean_axes,
    meta_array,
    sum_axes,
    unary_into,
)
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh, read_shape, take
from gradsmith.runtime.arrays.functions.shapes cimport broadcast_sizes

import numpy as np

from gradsmith.runtime.arrays.dtypes import promote_types

cnp.import_array()

cdef enum:
    LANES = 32
    BLOCK = 4096

ctypedef fused real:
    float
    double

cdef extern from "runtime/arrays/kernels/networks/class_losses.h":
    ctypedef struct Classes "gs_classes":
        int type
        npy_intp outer, classes, inner, ignored


cdef object reduced(object values, str reduction):
    if reduction == "mean":
        return take(mean_axes(<PyObject *>values, None, False))
    if reduction == "sum":
        return take(sum_axes(<PyObject *>values, None, False))
    return values


cdef int check_reduction(str reduction) except -1:
    if reduction in ("none", "mean", "sum"):
        return 0
    raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")


# ---- mse

cpdef object mse_loss_of(object a, object target, str reduction):
    check_reduction(reduction)
    if a.shape != target.shape:
        check_broadcast(a, target)
    elif reduction != "none" and not is_meta(<PyObject *>a) and cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(target) == cnp.NPY_FLOAT32:
        return summed_squares(a, target, reduction == "mean")
    a, target = alike(a, target)
    squares = take(binary(SUBTRACT, <PyObject *>a, <PyObject *>target))
    unary_into(SQUARE, <PyObject *>squares, <PyObject *>squares)
    return reduced(squares, reduction)


cdef tuple alike(object a, object target):
    """Both in the dtype they have in common once they are broadcast, when dimensions count no more in promotion."""
    if cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(target) and a.dtype.kind in "fc":
        return a, target
    dtype = promote_types(a.dtype, target.dtype)
    if dtype.kind not in "fc":
        raise NotImplementedError(
            f"mse_loss(): not defined for {dtype}; convert one tensor to a floating dtype first, as in x.to(gradsmith.float32)"
        )
    return in_dtype(a, dtype), in_dtype(target, dtype)


cdef object in_dtype(object a, object dtype):
    if is_meta(<PyObject *>a):
        return take(meta_array(dtype.num, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a)))
    return take(cast(<PyObject *>a, dtype.num))


cdef object summed_squares(object a, object target, bint mean):
    """One pass over memory instead of three; the lanes of a block are added in parallel, the blocks in double."""
    cdef double total
    a, target = take(contiguous(<PyObject *>a)), take(contiguous(<PyObject *>target))
    total = sum_of_squares(<float *>data(a), <float *>data(target), cnp.PyArray_SIZE(a))
    return take(full_array(cnp.NPY_FLOAT32, 0, NULL, total / cnp.PyArray_SIZE(a) if mean else total))


cdef double sum_of_squares(const float *a, const float *b, npy_intp n) noexcept nogil:
    cdef float lanes[LANES]
    cdef float difference
    cdef double total = 0
    cdef npy_intp at = 0
    cdef npy_intp stop, j
    while at + LANES <= n:
        stop = min(at + BLOCK, n - n % LANES)
        for j in range(LANES):
            lanes[j] = 0
        while at < stop:
            for j in range(LANES):
                difference = a[at + j] - b[at + j]
                lanes[j] += difference * difference
            at += LANES
        for j in range(LANES):
            total += lanes[j]
    while at < n:
        difference = a[at] - b[at]
        total += difference * difference
        at += 1
    return total


cdef int check_broadcast(object a, object target) except -1:
    if broadcast_sizes(a, target) is None:
        raise RuntimeError(
            f"mse_loss(): sizes {list(a.shape)} of the input and {list(target.shape)} of the target do not broadcast"
        )
    return 0


# ---- nll
#
# The input is (C), (N, C) or (N, C, d1, ...); as memory it is always n blocks of C classes with k elements each, and
# element (i, j) of the target stands for block i, position j.

cdef struct Blocks:
    npy_intp n
    npy_intp classes
    npy_intp k
    npy_intp ignored
    double loss                 # sums that the forward leaves behind
    double weight


cpdef object nll_loss_of(object x, object target, object weight, Py_ssize_t ignore_index, str reduction):
    """One loss for each target, their sum, or their mean by weight. Halves are added in float32."""
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT16 and not is_meta(<PyObject *>x):
        loss = nll_loss_of(in_type(x, cnp.NPY_FLOAT32), target, weight, ignore_index, reduction)
        return in_type(loss, cnp.NPY_FLOAT16)
    return nll_loss_of_floats(x, target, weight, ignore_index, reduction)


cdef object in_type(object a, int type_number):
    return take(cast(<PyObject *>a, type_number))


cdef object without_data(int type_number, tuple shape):
    cdef npy_intp dims[MAX_DIMS]
    return take(meta_array(type_number, read_shape(shape, dims), dims))


cdef object nll_loss_of_floats(object x, object target, object weight, Py_ssize_t ignore_index, str reduction):
    cdef Blocks blocks
    cdef int type_number = cnp.PyArray_TYPE(x)
    check_reduction(reduction)
    read_blocks(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), type_number, target, weight, ignore_index, &blocks)
    if is_meta(<PyObject *>x):
        return without_data(type_number, target.shape if reduction == "none" else ())
    classes = checked_classes(target, &blocks)
    weight = weights_in(type_number, weight)
    x = take(contiguous(<PyObject *>x))
    each = fresh(type_number, target.shape) if reduction == "none" else None
    if type_number == cnp.NPY_FLOAT32:
        nll_forward(<float *>data(x), <float *>data(weight), <npy_intp *>data(classes), &blocks, <float *>data(each))
    else:
        nll_forward(<double *>data(x), <double *>data(weight), <npy_intp *>data(classes), &blocks, <double *>data(each))
    if each is not None:
        return each
    if reduction == "mean":
        blocks.loss /= blocks.weight        # NaN when every target is ignored
    return take(full_array(type_number, 0, NULL, blocks.loss))


cdef void *data(object array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef object weights_in(int type_number, object weight):
    if weight is None:
        return None
    weight = in_type(weight, type_number)
    return take(contiguous(<PyObject *>weight))


cdef void nll_forward(
    const real *values, const real *scale, const npy_intp *chosen, Blocks *blocks, real *each
) noexcept nogil:
    cdef npy_intp i, j, c
    cdef real w, loss
    blocks.loss = 0
    blocks.weight = 0
    for i in range(blocks.n):
        for j in range(blocks.k):
            c = chosen[i * blocks.k + j]
            w = loss = 0
            if c != blocks.ignored:
                w = 1 if scale == NULL else scale[c]
                loss = -w * values[(i * blocks.classes + c) * blocks.k + j]
            blocks.loss += loss
            blocks.weight += w
            if each != NULL:
                each[i * blocks.k + j] = loss


cpdef object nll_loss_backward_of(
    object grad, object target, object weight, object shape, Py_ssize_t ignore_index, str reduction
):
    """The gradient lands on the right classes, with minus their weight."""
    if cnp.PyArray_TYPE(grad) == cnp.NPY_FLOAT16 and not is_meta(<PyObject *>grad):
        wide = nll_loss_backward_of(
            in_type(grad, cnp.NPY_FLOAT32), target, weight, shape, ignore_index, reduction)
        return in_type(wide, cnp.NPY_FLOAT16)
    return nll_backward_of_floats(grad, target, weight, shape, ignore_index, reduction)


cdef object nll_backward_of_floats(
    object grad, object target, object weight, object shape, Py_ssize_t ignore_index, str reduction
):
    cdef Blocks blocks
    cdef npy_intp dims[MAX_DIMS]
    cdef int ndim = read_shape(shape, dims)
    cdef int type_number = cnp.PyArray_TYPE(grad)
    cdef npy_intp step = 1 if reduction == "none" else 0
    cdef double divisor = 1
    check_reduction(reduction)
    read_blocks(ndim, dims, type_number, target, weight, ignore_index, &blocks)
    check_grad(grad, step * cnp.PyArray_NDIM(target), cnp.PyArray_DIMS(target))
    if is_meta(<PyObject *>grad):
        return take(meta_array(type_number, ndim, dims))
    classes = checked_classes(target, &blocks)
    weight = weights_in(type_number, weight)
    grad = take(contiguous(<PyObject *>grad))
    result = take(full_array(type_number, ndim, dims, 0))
    if reduction == "mean":
        divisor = total_weight(classes, weight, ignore_index)
    if type_number == cnp.NPY_FLOAT32:
        nll_backward(
            <float *>data(grad), step, divisor, <float *>data(weight), <npy_intp *>data(classes), &blocks,
            <float *>data(result))
    else:
        nll_backward(
            <double *>data(grad), step, divisor, <double *>data(weight), <npy_intp *>data(classes), &blocks,
            <double *>data(result))
    return result


cdef int check_grad(object grad, int ndim, const npy_intp *dims) except -1:
    if has_sizes(grad, ndim, dims):
        return 0
    raise RuntimeError(
        f"nll_loss_backward(): expected a gradient of size {[dims[at] for at in range(ndim)]}, but it has size "
        f"{list(grad.shape)}"
    )


cdef bint has_sizes(object array, int ndim, const npy_intp *dims) noexcept:
    cdef int at
    if cnp.PyArray_NDIM(array) != ndim:
        return False
    for at in range(ndim):
        if cnp.PyArray_DIM(array, at) != dims[at]:
            return False
    return True


cdef object total_weight(object classes, object weight, Py_ssize_t ignore_index):
    """Sum of the weights of the targets that count. An object: NumPy may fail without an exception to look for."""
    cdef const npy_intp *chosen = <const npy_intp *>cnp.PyArray_DATA(classes)
    cdef npy_intp at, count = 0
    if weight is not None:
        return weight[classes[classes != ignore_index]].sum(dtype=np.float64)
    for at in range(cnp.PyArray_SIZE(classes)):
        count += chosen[at] != ignore_index
    return count


cdef void nll_backward(
    const real *grads, npy_intp step, double divisor, const real *scale, const npy_intp *chosen, Blocks *blocks,
    real *out
) noexcept nogil:
    """`step` is 1 when each target has a gradient of its own, 0 when all share one."""
    cdef npy_intp at, c
    cdef real w
    for at in range(blocks.n * blocks.k):
        c = chosen[at]
        if c != blocks.ignored:
            w = 1 if scale == NULL else scale[c]
            out[(at // blocks.k * blocks.classes + c) * blocks.k + at % blocks.k] = <real>(
                -grads[at * step] * w / divisor)


cdef int read_blocks(
    int ndim, const npy_intp *dims, int type_number, object target, object weight, Py_ssize_t ignore_index, Blocks *blocks
) except -1:
    """Check the sizes and types of a loss, and write how its memory is laid out."""
    cdef int at
    if type_number not in (cnp.NPY_FLOAT16, cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        raise NotImplementedError("nll_loss() is defined for float16, float32 and float64 tensors only")
    if ndim == 0:
        raise ValueError(
            "Expected 1 or more dimensions (got 0): nll_loss() takes an input of size (C), (N, C) or (N, C, d1, ...)"
        )
    blocks.classes = dims[0] if ndim == 1 else dims[1]
    blocks.n = 1 if ndim == 1 else dims[0]
    blocks.k = 1
    blocks.ignored = ignore_index
    for at in range(2, ndim):
        blocks.k *= dims[at]
    check_target(ndim, dims, target)
    if cnp.PyArray_TYPE(target) not in (cnp.NPY_INT64, cnp.NPY_UINT8):
        raise target_dtype_error(target.dtype)
    if weight is not None and weight.shape != (blocks.classes,):
        raise RuntimeError(
            f"nll_loss(): weight tensor should be defined either for all {blocks.classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )
    if weight is not None and weight.dtype.kind == "c":
        raise RuntimeError(f"nll_loss(): expected weights that are real numbers, but found {weight.dtype}")
    return 0


cdef int check_target(int ndim, const npy_intp *dims, object target) except -1:
    """The target has the input's shape without the dimension of the classes."""
    cdef int at
    cdef bint fits = cnp.PyArray_NDIM(target) == ndim - 1
    for at in range(ndim - 1):
        # Dimension 0 is the batch, and stays; of the rest the first is that of the classes.
        fits = fits and cnp.PyArray_DIM(target, at) == dims[at + 1 if at else 0]
    if fits:
        return 0
    raise target_size_error("nll_loss", tuple([dims[at] for at in range(ndim)]), target.shape)


cpdef object target_size_error(str op, tuple shape, tuple found):
    """What is wrong with the size of classes for an input of this shape, as PyTorch says it."""
    cdef Py_ssize_t ndim = len(shape)
    expected = () if ndim == 1 else (shape[0], *shape[2:])
    text = f"Expected target size {list(expected)}, got {list(found)}: {op}() takes this for an input of size {list(shape)}"
    if op == "cross_entropy":
        text += ", or probabilities of the size of the input"
    if ndim == 1 and len(found) == 1:
        return ValueError(f"For 1D input, 1D target must have size 1, but got target size: {found[0]}. {text}")
    if ndim > 1 and (not found or found[0] != shape[0]):
        size = found[0] if found else 0
        return ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({size}). {text}")
    if ndim < 3:
        return RuntimeError(f"0D or 1D target tensor expected, multi-target not supported. {text}")
    return RuntimeError(text)


cpdef object target_dtype_error(object dtype):
    return RuntimeError(
        f"expected target dtype to be Long or Byte, but got {dtype}: classes are of dtype int64 or uint8, as "
        "x.to(gradsmith.int64) gives them"
    )


cdef object checked_classes(object target, Blocks *blocks):
    """The target in order and in one type, every element a class or the ignored one."""
    cdef const npy_intp *chosen
    cdef npy_intp at
    result = take(cast(<PyObject *>target, cnp.NPY_INTP))
    result = take(contiguous(<PyObject *>result))
    chosen = <const npy_intp *>cnp.PyArray_DATA(result)
    for at in range(cnp.PyArray_SIZE(result)):
        if not 0 <= chosen[at] < blocks.classes and chosen[at] != blocks.ignored:
            raise IndexError(f"Target {chosen[at]} is out of bounds: there are {blocks.classes} classes.")
    return result


# ---- losses of classes, from scores

cpdef tuple class_losses_of(object x, object target, Py_ssize_t ignore_index):
    """For each target its loss, and the logarithm of the sum of exponentials. Halves are computed in float32."""
    cdef Blocks blocks
    cdef Classes job
    cdef int type_number = cnp.PyArray_TYPE(x)
    read_blocks(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), type_number, target, None, ignore_index, &blocks)
    if is_meta(<PyObject *>x):
        return (without_data(type_number, target.shape), without_data(type_number, target.shape))
    if type_number == cnp.NPY_FLOAT16:
        found = class_losses_of(in_type(x, cnp.NPY_FLOAT32), target, ignore_index)
        return (in_type(found[0], cnp.NPY_FLOAT16), in_type(found[1], cnp.NPY_FLOAT16))
    classes = checked_classes(target, &blocks)
    x = take(contiguous(<PyObject *>x))
    losses, log_sum = fresh(type_number, target.shape), fresh(type_number, target.shape)
    if blocks.classes == 0:
        losses.fill(0)
        log_sum.fill(-np.inf)
        return (losses, log_sum)
    set_job(&job, &blocks, type_number)
    class_losses(&job, data(x), <npy_intp *>data(classes), data(losses), data(log_sum))
    return (losses, log_sum)


cpdef object class_losses_backward_of(object grad, object x, object target, object log_sum, Py_ssize_t ignore_index):
    """The gradient of the scores: for each target its share of each class, less one for the right class."""
    cdef Blocks blocks
    cdef Classes job
    cdef int type_number = cnp.PyArray_TYPE(x)
    read_blocks(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), type_number, target, None, ignore_index, &blocks)
    check_grad(grad, cnp.PyArray_NDIM(target), cnp.PyArray_DIMS(target))
    check_grad(log_sum, cnp.PyArray_NDIM(target), cnp.PyArray_DIMS(target))
    if is_meta(<PyObject *>x) or is_meta(<PyObject *>grad):
        return without_data(type_number, x.shape)
    if type_number == cnp.NPY_FLOAT16:
        wide = class_losses_backward_of(grad, in_type(x, cnp.NPY_FLOAT32), target, log_sum, ignore_index)
        return in_type(wide, cnp.NPY_FLOAT16)
    classes = checked_classes(target, &blocks)
    x = take(contiguous(<PyObject *>x))
    grad, log_sum = in_type(grad, type_number), in_type(log_sum, type_number)
    grad, log_sum = take(contiguous(<PyObject *>grad)), take(contiguous(<PyObject *>log_sum))
    result = fresh(type_number, x.shape)
    set_job(&job, &blocks, type_number)
    class_losses_backward(&job, data(grad), data(x), <npy_intp *>data(classes), data(log_sum), data(result))
    return result


cdef void set_job(Classes *job, const Blocks *blocks, int type_number) noexcept:
    job.type, job.ignored = type_number, blocks.ignored
    job.outer, job.classes, job.inner = blocks.n, blocks.classes, blocks.k
