"""Loss functions whose value is more than a pointwise expression."""

from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.array cimport contiguous, mean_axes, sum_axes
from gradsmith.runtime.functions.ownership cimport take

import numpy as np

cnp.import_array()

ctypedef fused real:
    float
    double


cdef object reduced(object values, str reduction):
    if reduction == "mean":
        return take(mean_axes(<PyObject *>values, None, False))
    if reduction == "sum":
        return take(sum_axes(<PyObject *>values, None, False))
    check_reduction(reduction)
    return values


cdef int check_reduction(str reduction) except -1:
    if reduction in ("none", "mean", "sum"):
        return 0
    raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")


# ---- mse

cpdef object mse_loss_of(object a, object target, str reduction):
    try:
        with np.errstate(all="ignore"):
            squares = np.asarray(np.square(np.subtract(a, target)))
    except ValueError:
        raise RuntimeError(
            f"mse_loss(): sizes {list(a.shape)} of the input and {list(target.shape)} of the target do not broadcast"
        ) from None
    return reduced(squares, reduction)


# ---- nll
#
# The input is (C), (N, C) or (N, C, d1, ...); as memory it is always n blocks of C classes with k elements each, and
# element (i, j) of the target stands for block i, position j.

cdef struct Blocks:
    npy_intp n
    npy_intp classes
    npy_intp k


cpdef object nll_loss_of(object x, object target, object weight, Py_ssize_t ignore_index, str reduction):
    cdef Blocks blocks
    check_reduction(reduction)
    check_nll(x.shape, x.dtype, target, weight, &blocks)
    x = take(contiguous(<PyObject *>x))
    classes = checked_classes(target, blocks.classes, ignore_index)
    weights = None if weight is None else np.ascontiguousarray(weight, x.dtype)
    losses = np.empty(target.shape, x.dtype)
    cdef double total
    if x.dtype == np.float32:
        total = nll_forward(
            <float *>data(x), <float *>data(weights), <npy_intp *>data(classes), ignore_index, &blocks,
            <float *>data(losses))
    else:
        total = nll_forward(
            <double *>data(x), <double *>data(weights), <npy_intp *>data(classes), ignore_index, &blocks,
            <double *>data(losses))
    if reduction == "none":
        return losses
    loss = take(sum_axes(<PyObject *>losses, None, False))
    return np.asarray(divided(loss, total)) if reduction == "mean" else loss


cdef object divided(object loss, double total):
    """Of no targets the mean is NaN, without a warning."""
    if total:
        return loss / loss.dtype.type(total)
    return np.full((), np.nan, loss.dtype)


cdef void *data(object array) noexcept:
    return NULL if array is None else cnp.PyArray_BYTES(array)


cdef double nll_forward(
    const real *values, const real *scale, const npy_intp *chosen, npy_intp ignore_index, Blocks *blocks, real *out
) noexcept nogil:
    """One loss for each target; gives the sum of their weights."""
    cdef npy_intp i, j, c
    cdef real w
    cdef double total = 0
    for i in range(blocks.n):
        for j in range(blocks.k):
            c = chosen[i * blocks.k + j]
            if c == ignore_index:
                out[i * blocks.k + j] = 0
                continue
            w = 1 if scale == NULL else scale[c]
            out[i * blocks.k + j] = -w * values[(i * blocks.classes + c) * blocks.k + j]
            total += w
    return total


cpdef object nll_loss_backward_of(
    object grad, object target, object weight, object shape, Py_ssize_t ignore_index, str reduction
):
    """What the loss's gradient is with respect to the input: it lands on the right classes, with minus their weight."""
    cdef Blocks blocks
    check_nll(tuple(shape), grad.dtype, target, weight, &blocks)
    classes = checked_classes(target, blocks.classes, ignore_index)
    weights = None if weight is None else np.ascontiguousarray(weight, grad.dtype)
    grad = np.ascontiguousarray(grad)
    result = np.zeros(shape, grad.dtype)
    cdef npy_intp step = 1 if reduction == "none" else 0
    cdef double divisor = 1
    if reduction == "mean":
        divisor = total_weight(classes, weights, ignore_index)
    if grad.dtype == np.float32:
        nll_backward(
            <float *>data(grad), step, divisor, <float *>data(weights), <npy_intp *>data(classes), ignore_index,
            &blocks, <float *>data(result))
    else:
        nll_backward(
            <double *>data(grad), step, divisor, <double *>data(weights), <npy_intp *>data(classes), ignore_index,
            &blocks, <double *>data(result))
    return result


cdef double total_weight(object classes, object weights, Py_ssize_t ignore_index) except? -1:
    counted = classes[classes != ignore_index]
    return counted.size if weights is None else weights[counted].sum(dtype=np.float64)


cdef void nll_backward(
    const real *grads, npy_intp step, double divisor, const real *scale, const npy_intp *chosen,
    npy_intp ignore_index, Blocks *blocks, real *out
) noexcept nogil:
    """`step` is 1 when each target has a gradient of its own, 0 when all share one."""
    cdef npy_intp at, c
    cdef real w
    for at in range(blocks.n * blocks.k):
        c = chosen[at]
        if c != ignore_index:
            w = 1 if scale == NULL else scale[c]
            out[(at // blocks.k * blocks.classes + c) * blocks.k + at % blocks.k] = <real>(
                -grads[at * step] * w / divisor)


cdef int check_nll(tuple shape, object dtype, object target, object weight, Blocks *blocks) except -1:
    cdef Py_ssize_t ndim = len(shape)
    if dtype.char not in "fd":
        raise NotImplementedError(f"nll_loss() is defined for float32 and float64, not for {dtype}")
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"nll_loss(): expected an integer target (classes), but got {target.dtype}")
    if ndim == 0:
        raise RuntimeError("nll_loss(): expected an input of size (C), (N, C) or (N, C, d1, ...), but got a number")
    expected = () if ndim == 1 else (shape[0], *shape[2:])
    if target.shape != expected:
        raise ValueError(
            f"nll_loss(): an input of size {list(shape)} wants a target of size {list(expected)}, "
            f"but it has size {list(target.shape)}"
        )
    blocks.classes = shape[0] if ndim == 1 else shape[1]
    blocks.n = 1 if ndim == 1 else shape[0]
    blocks.k = 1
    for size in shape[2:]:
        blocks.k *= size
    if weight is not None and weight.shape != (blocks.classes,):
        raise RuntimeError(
            f"nll_loss(): weight should have one element for each of the {blocks.classes} classes, "
            f"but has size {list(weight.shape)}"
        )
    return 0


cdef object checked_classes(object target, npy_intp classes, Py_ssize_t ignore_index):
    """The target as contiguous intp, every element a class or the ignored one."""
    cdef object result = np.ascontiguousarray(target, np.intp)
    cdef const npy_intp *chosen = <const npy_intp *>cnp.PyArray_BYTES(result)
    cdef npy_intp at
    for at in range(cnp.PyArray_SIZE(result)):
        if not 0 <= chosen[at] < classes and chosen[at] != ignore_index:
            raise IndexError(f"Target {chosen[at]} is out of bounds: there are {classes} classes.")
    return result
