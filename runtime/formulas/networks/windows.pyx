"""Sizes of convolutions, as PyTorch computes and checks them, and images of one to three dimensions as volumes."""

from gradsmith.runtime.calls.arguments cimport shape_of
from gradsmith.runtime.formulas.networks.answers cimport Answers, is_plain

from operator import index

cdef tuple ONES = ((1, 1, 1), (1, 1), (1,), ())      # sizes that images of 0 to 3 dimensions lack

# PyTorch complements the sizes of these from the input's, and says ValueError where it has too few.
ADAPTIVE = ("adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d")

cpdef object as_volumes(object self, object dims, object op):
    """(images, channels, *sizes) with three sizes: an image alone is one of one, what has fewer sizes gets ones."""
    cdef tuple shape = shape_of(self)
    cdef int ndim = len(shape), own = dims
    if ndim != own + 1 and ndim != own + 2:
        is_of_few = ndim <= own and op in ADAPTIVE
        raise (ValueError if is_of_few else RuntimeError)(
            f"Expected {own + 1}D (unbatched) or {own + 2}D (batched) input to {op}, but got input of size: {list(shape)}"
        )
    if ndim == 5:
        return self
    cdef tuple before = shape[:ndim - own] if ndim == own + 2 else (1, shape[0])
    return self.reshape(before + ONES[own] + shape[ndim - own:])


cpdef object from_volumes(object self, object dims, object shape):
    """Back to as many dimensions as the input, of that shape, had."""
    cdef int ndim = len(shape), own = dims
    if ndim == 5:
        return self
    cdef tuple found = shape_of(self)
    return self.reshape(found[own + 2 - ndim:2] + found[5 - own:])


cpdef object plus_bias(object self, object bias, object dims, object op):
    """Images with one number more for each channel."""
    if bias is None:
        return self
    if bias.shape != (self.shape[self.ndim - dims - 1],):
        raise RuntimeError(
            f"{op}(): expected bias to be 1-dimensional with {self.shape[self.ndim - dims - 1]} elements, but got "
            f"bias of size {list(bias.shape)} instead"
        )
    if bias.dtype != self.dtype:
        raise RuntimeError(
            f"{op}(): Input type ({self.dtype}) and bias type ({bias.dtype}) should be the same; convert one of them"
        )
    return self + bias.reshape((-1, *(1,) * dims))


cpdef object in_three_dims(object values, object filler):
    """Of fewer than three dimensions the last ones."""
    if len(values) == 2:
        return (filler, values[0], values[1])
    return (filler,) * (3 - len(values)) + tuple(values)


cpdef object padding_before(object op, object padding, object window, object stride, object dilation):
    """Zeros before the first element of each dimension. "same" has one more after than before where the sum is odd."""
    if is_plain(padding):
        return known_paddings.to((op, padding, window, stride, dilation))
    return new_padding(op, padding, window, stride, dilation)


def new_padding(op, padding, window, stride, dilation):
    return in_three_dims(padding_at_both_ends(op, padding, window, stride, dilation)[0], 0)


cdef tuple numbers_of(object op, str name, object value):
    """One number, or a sequence of them."""
    try:
        return tuple([index(n) for n in value] if isinstance(value, (tuple, list)) else [index(value)])
    except TypeError:
        raise TypeError(f"{op}(): argument '{name}' must be int, or a sequence of them, but got {value!r}") from None


cdef tuple padding_at_both_ends(object op, object padding, object window, object stride, object dilation):
    cdef int dims = len(stride)
    if isinstance(padding, str) and padding == "valid":
        return (0,) * dims, (0,) * dims
    if isinstance(padding, str) and padding == "same":
        if any([step != 1 for step in stride]):
            raise RuntimeError(f"{op}(): padding='same' is not supported for strided convolutions")
        lacking = [step * (size - 1) for step, size in zip(dilation, window[2:])]
        return tuple([n // 2 for n in lacking]), tuple([n - n // 2 for n in lacking])
    if isinstance(padding, str):
        raise ValueError(f"{op}(): padding is a number for each dimension, 'same' or 'valid', not '{padding}'")
    before = numbers_of(op, "padding", padding)
    before = before * dims if len(before) == 1 else before
    if len(before) != dims:
        raise RuntimeError(
            f"{op}(): expected padding to be a single integer value or a list of {dims} values, got {padding}"
        )
    if min(before) < 0:
        raise RuntimeError(f"{op}(): negative padding is not supported, but it is {list(before)}")
    return before, before


cpdef object conv_sizes(
    object op, object shape, object weight, object padding, object stride, object dilation, object groups
):
    """Sizes of the output of a convolution."""
    if is_plain(padding):
        return known_sizes.to((op, shape, weight, padding, stride, dilation, groups))
    return new_conv_sizes(op, shape, weight, padding, stride, dilation, groups)


def new_conv_sizes(op, shape, weight, padding, stride, dilation, groups):
    expect_steps(op, weight, stride, dilation, groups)
    cdef int dims = len(stride)
    channels, sizes = shape[len(shape) - dims - 1], shape[len(shape) - dims:]
    if channels != weight[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight)}, expected input{list(shape)} to have "
            f"{weight[1] * groups} channels, but got {channels} channels instead"
        )
    before, after = padding_at_both_ends(op, padding, weight, stride, dilation)
    padded = [n + one + other for n, one, other in zip(sizes, before, after)]
    reach = [step * (size - 1) + 1 for step, size in zip(dilation, weight[2:])]
    if any([n < m for n, m in zip(padded, reach)]):
        raise RuntimeError(
            f"{op}(): Calculated padded input size per channel: ({crossed(padded)}). Kernel size: ({crossed(reach)}). "
            "Kernel size can't be greater than actual input size"
        )
    return in_three_dims([(n - m) // step + 1 for n, m, step in zip(padded, reach, stride)], 1)


cpdef object conv_transpose_sizes(
    object op, object shape, object weight, object stride, object padding, object output_padding, object dilation,
    object groups
):
    """Sizes of the image that a convolution would have made the input of."""
    return known_image_sizes.to((op, shape, weight, stride, padding, output_padding, dilation, groups))


def new_image_sizes(op, shape, weight, stride, padding, output_padding, dilation, groups):
    expect_steps(op, weight, stride, dilation, groups)
    cdef int dims = len(stride)
    channels, sizes = shape[len(shape) - dims - 1], shape[len(shape) - dims:]
    if channels != weight[0]:
        raise RuntimeError(
            f"Given transposed=True, weight of size {list(weight)}, expected input{list(shape)} to have {weight[0]} "
            f"channels, but got {channels} channels instead"
        )
    if weight[1] < 1:
        raise RuntimeError(f"{op}(): non-empty weight tensor expected, but its size is {list(weight)}")
    if min(padding) < 0:
        raise RuntimeError(f"{op}(): negative padding is not supported, but it is {list(padding)}")
    if any([n < 0 or n >= max(step, spread) for n, step, spread in zip(output_padding, stride, dilation)]):
        raise RuntimeError(
            f"{op}(): output padding must be smaller than either stride or dilation, but got output_padding "
            f"{list(output_padding)}, stride {list(stride)}, dilation {list(dilation)}"
        )
    found = [
        (n - 1) * step - 2 * pad + spread * (size - 1) + more + 1
        for n, step, pad, spread, size, more in zip(sizes, stride, padding, dilation, weight[2:], output_padding)
    ]
    if min(found) < 1:
        raise RuntimeError(
            f"{op}(): Given input size per channel: ({crossed(sizes)}). Calculated output size per channel: "
            f"({crossed(found)}). Output size is too small"
        )
    return in_three_dims(found, 1)


cdef int expect_steps(object op, object weight, object stride, object dilation, object groups) except -1:
    cdef int dims = len(stride)
    if len(weight) != dims + 2:
        raise RuntimeError(f"{op}(): the weight has {dims + 2} dimensions, but its size is {list(weight)}")
    if groups < 1:
        raise RuntimeError(f"{op}(): non-positive groups is not supported, but it is {groups}")
    if min(stride) < 1:
        raise RuntimeError(f"{op}(): non-positive stride is not supported, but it is {list(stride)}")
    if min(dilation) < 1:
        raise RuntimeError(f"{op}(): dilation should be greater than zero, but it is {list(dilation)}")
    if weight[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight)} instead"
        )
    if weight[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {list(weight)} instead"
        )
    if min(weight[2:]) < 1:
        raise RuntimeError(f"{op}(): the kernel has no elements: its size is {list(weight)}")
    return 0


cdef str crossed(object sizes):
    return " x ".join([str(n) for n in sizes])


# ---- kept for the next call

cdef Answers known_paddings = Answers(new_padding)
cdef Answers known_sizes = Answers(new_conv_sizes)
cdef Answers known_image_sizes = Answers(new_image_sizes)
