"""Windows of pooling, as PyTorch lays and checks them: for each place of the output what it sees of the image."""

from gradsmith.runtime.formulas.networks.answers cimport Answers, is_plain

import numpy as np

from functools import lru_cache
from math import prod
from operator import index

cdef object MOST = 1 << 62          # of settings, and of elements: beyond, machine numbers do not hold what they make
cdef object KEPT = 4096             # places along a dimension whose windows are kept for the next call



cpdef object pool_spans(
    object op, object shape, object window, object stride, object padding, object dilation, object ceil_mode
):
    """The first element of each window and the place after its last, along three dimensions."""
    return known_spans.to((op, shape, window, stride, padding, dilation, ceil_mode))


def are_short(along):
    """Are all the arrays, one for each dimension?"""
    return max(map(len, along)) <= KEPT


def new_spans(op, shape, window, stride, padding, dilation, ceil_mode):
    found = []
    for n, k, s, p, d in geometry(op, shape, window, stride, padding, dilation, ceil_mode):
        count = places(n, k, s, p, d, ceil_mode)
        spans = (kept_spans if count <= KEPT else spans_along)(count, n, k, s, p, d)
        if spans is None:
            raise RuntimeError(
                f"{op}(): a window sees nothing of a dimension of size {n}: kernel_size {k}, stride {s}, padding {p}, "
                f"dilation {d}"
            )
        found.append(spans)
    return (ONE_SPAN,) * (3 - len(found)) + tuple(found)


def spans_along(count, n, k, s, p, d):
    """(places, 2), of one dimension; None where a window sees nothing."""
    starts = starts_of(count, s, p)
    first = np.where(starts >= 0, starts, starts + -(starts // d) * d)
    end = np.minimum(starts + min(d * (k - 1) + 1, n + p), n)
    return fixed(np.stack([first, end], 1)) if (first < end).all() else None


kept_spans = lru_cache(1024)(spans_along)


cpdef object pool_divisors(
    object op, object shape, object window, object stride, object padding, object ceil_mode, object with_padding,
    object divisor
):
    """What the sum of each window is divided by: along each dimension the elements it has, or those of the padded image."""
    return known_divisors.to((op, shape, window, stride, padding, ceil_mode, with_padding, divisor))


def new_divisors(op, shape, window, stride, padding, ceil_mode, with_padding, divisor):
    if divisor == 0:
        raise RuntimeError(f"{op}(): divisor must be not zero")
    found = []
    for n, k, s, p, d in geometry(op, shape, window, stride, padding, (1,) * len(window), ceil_mode):
        count = places(n, k, s, p, d, ceil_mode)
        if divisor is not None:
            found.append(fixed(np.ones(count, np.intp)))
        else:
            found.append((kept_sizes if count <= KEPT else sizes_along)(count, n, k, s, p, with_padding))
    first, *others = (ONE,) * (3 - len(found)) + tuple(found)
    return (first if divisor is None else fixed(np.full(len(first), divisor, np.intp)), *others)


def sizes_along(count, n, k, s, p, with_padding):
    """(places), of one dimension."""
    starts = starts_of(count, s, p)
    if with_padding:
        return fixed(np.minimum(starts + min(k, n + 2 * p), n + p) - starts)
    return fixed(np.minimum(starts + min(k, n + p), n) - np.maximum(starts, 0))


kept_sizes = lru_cache(1024)(sizes_along)


cdef object starts_of(object count, object s, object p):
    return np.arange(count, dtype=np.intp) * (s if count > 1 else 1) - p


cdef object fixed(object a):
    """Kept for others: nobody may write to it."""
    a = a.astype(np.intp, order="C", copy=False)
    a.flags.writeable = False
    return a


# Along a dimension that an image does not have.
ONE_SPAN, ONE = fixed(np.array([[0, 1]])), fixed(np.ones(1))


cpdef object adaptive_spans(object op, object shape, object dims, object size):
    """Windows that share the image out evenly, each overlapping the next by an element where they do not fit."""
    return known_shares.to((op, shape, dims, size)) if is_plain(size) else new_shares(op, shape, dims, size)


def new_shares(op, shape, dims, size):
    found = [
        (kept_shares if m <= KEPT else shares_along)(n, m) for n, m in adaptive_sizes(op, shape, dims, size)
    ]
    return (ONE_SPAN,) * (3 - len(found)) + tuple(found)


def shares_along(n, m):
    """(places, 2), of one dimension."""
    numbers = np.arange(m + 1, dtype=np.intp) * n
    return fixed(np.stack([numbers[:m] // max(m, 1), -(-numbers[1:] // max(m, 1))], 1))


kept_shares = lru_cache(1024)(shares_along)


cpdef object adaptive_divisors(object op, object shape, object dims, object size):
    return known_share_sizes.to((op, shape, dims, size)) if is_plain(size) else new_share_sizes(op, shape, dims, size)


def new_share_sizes(op, shape, dims, size):
    return tuple([ONE if along is ONE_SPAN else fixed(along[:, 1] - along[:, 0]) for along in adaptive_spans(op, shape, dims, size)])


cdef list adaptive_sizes(object op, object shape, object dims, object size):
    """Pairs of sizes of the input and of the output; None, or a number alone, as PyTorch takes them."""
    sizes = shape[len(shape) - dims:]
    wanted = list(size) if isinstance(size, (tuple, list)) else [size]
    wanted = wanted * dims if len(wanted) == 1 else wanted
    if len(wanted) != dims:
        raise RuntimeError(f"{op}(): expected output_size to be an int or {dims} of them, but got {list(wanted)}")
    try:
        wanted = [n if m is None else index(m) for n, m in zip(sizes, wanted)]
    except TypeError:
        raise TypeError(
            f"{op}(): argument 'output_size' must be int or None, or {dims} of them, but got {size}"
        ) from None
    if min(wanted) < 0:
        raise RuntimeError(f"{op}(): elements of output_size must be greater than or equal to 0, but got {wanted}")
    if min(sizes) < 1:
        raise RuntimeError(
            f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}"
        )
    expect_memory(op, [*shape[:len(shape) - dims], *wanted])
    return list(zip(sizes, wanted))


cdef int expect_memory(object op, object shape) except -1:
    """Before anything is made that has as many places, which would take longer to fail."""
    if prod([max(n, 1) for n in shape]) >= MOST >> 16:
        raise RuntimeError(f"{op}(): an output of size {list(shape)} is too large")
    return 0


cdef list geometry(
    object op, object shape, object window, object stride, object padding, object dilation, object ceil_mode
):
    """For each dimension the size of the image and of the window, stride, padding and dilation."""
    cdef int dims = len(window)
    stride = stride or window
    sizes = shape[len(shape) - dims:]
    if 0 in shape[len(shape) - dims - 1:]:
        raise RuntimeError(
            f"{op}(): Expected an image of {dims} dimensions and channels, with optional 0 dim batch size, "
            f"but got {list(shape)}"
        )
    for name, values in (("kernel_size", window), ("stride", stride), ("dilation", dilation)):
        if len(values) != dims or min(values) < 1:
            raise RuntimeError(f"{op}(): {name} should be {dims} numbers greater than zero, but got {list(values)}")
    for k, p, d in zip(window, padding, dilation):
        if p < 0:
            raise RuntimeError(f"{op}(): pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"{op}(): pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    found = list(zip(sizes, window, stride, padding, dilation))
    outputs = [places(n, k, s, p, d, ceil_mode) for n, k, s, p, d in found]
    if min(outputs) < 1 or max(outputs) >= MOST or max(*padding, *dilation) >= MOST:
        raise RuntimeError(
            f"{op}(): Given input size: {list(shape)}. Calculated output size: {outputs}. Output size is too "
            f"{'small' if min(outputs) < 1 else 'large'}"
        )
    return found


cdef object places(object n, object k, object s, object p, object d, object ceil_mode):
    """The size of the output; a last window that would begin in the padding behind the image is left out."""
    reach = n + 2 * p - d * (k - 1) - 1
    if not ceil_mode:
        return reach // s + 1
    count = -(-reach // s) + 1
    return count - 1 if (count - 1) * s >= n + p else count


# ---- kept for the next call

cdef Answers known_spans = Answers(new_spans, are_short)
cdef Answers known_divisors = Answers(new_divisors, are_short)
cdef Answers known_shares = Answers(new_shares, are_short)
cdef Answers known_share_sizes = Answers(new_share_sizes, are_short)
