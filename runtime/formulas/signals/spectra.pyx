"""Helpers of Fourier transforms and convolutions; the types that formulas may call them with are in the .pxd."""

from math import prod

from gradsmith.runtime.formulas.networks.answers cimport Answers
from gradsmith.runtime.formulas.numbers cimport wrapped


cpdef object power_of(object norm, object inverse):
    """By which power of the number of elements a transform is divided."""
    if norm is None:
        return 1.0 if inverse else 0.0
    if norm not in ("backward", "ortho", "forward"):
        raise RuntimeError(f"fft: Invalid normalization mode: {norm!r}; expected 'backward', 'ortho' or 'forward'")
    if norm == "ortho":
        return 0.5
    return 1.0 if (norm == "forward") != inverse else 0.0


cpdef object transformed_dims(object ndim, object size, object dim):
    """All dimensions that are named, by default as many of the last ones as there are sizes, or all."""
    return known_dims.to((ndim, size, dim))


def new_dims(ndim, size, dim):
    if dim is None:
        count = ndim if size is None else len(size)
        if count > ndim:
            raise RuntimeError(f"fft: Got shape with {count} values but input tensor only has {ndim} dimensions.")
        return tuple(range(ndim - count, ndim))
    dims = shifted_dims(ndim, dim)
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"fft: FFT dims must be unique, but got {list(dim)}")
    if size is not None and len(size) != len(dim):
        raise RuntimeError(
            "fft: When given, dim and shape arguments must have the same length, "
            f"but there are {len(dim)} dims and {len(size)} sizes"
        )
    return tuple(dims)


cdef Answers known_dims = Answers(new_dims)


cpdef object shifted_dims(object ndim, object dim):
    """The dimensions that are named, as often as they are, by default all."""
    if dim is None:
        return list(range(ndim))
    check_dimensions(ndim, dim)
    return [wrapped(one, ndim) for one in dim]


cdef object check_dimensions(object ndim, object dim):
    if dim and not ndim:
        raise IndexError(f"fft: Dimension specified as {dim[0]} but tensor has no dimensions")


cpdef object one_size(object n):
    """The size along a single dimension; here -1 is no word for the size of the tensor, as it is among several."""
    return None if n is None else checked([n])


cpdef object transformed_sizes(object shape, object size, object dim):
    """The sizes that were given, where they are not -1, or those of the tensor."""
    check_dimensions(len(shape), dim)
    if size is None:
        return checked([shape[one] for one in dim])
    return checked([shape[one] if length == -1 else length for one, length in zip(dim, size)])


cpdef object sizes_of_half(object shape, object size, object dim):
    """The same where the tensor has half of the frequencies along the last of the dimensions."""
    if not dim:
        raise RuntimeError("fft: must transform at least one axis")
    check_dimensions(len(shape), dim)
    lengths = [shape[one] for one in dim]
    lengths[len(dim) - 1] = 2 * (lengths[len(dim) - 1] - 1)
    given = lengths if size is None else [n if n != -1 else length for n, length in zip(size, lengths)]
    return checked(given)


cdef list checked(list sizes):
    for length in sizes:
        if <Py_ssize_t>length < 1:
            raise RuntimeError(f"fft: Invalid number of data points ({length}) specified")
    return sizes


cpdef object halved_last(object size):
    """The sizes with the number of frequencies that are not negative in the place of the last."""
    *others, last = size
    return [*others, last // 2 + 1]


cpdef object fits(object shape, object size, object dim):
    """Does a tensor have these sizes along the dimensions already?"""
    for place, length in zip(dim, size):
        if <Py_ssize_t>shape[place] != <Py_ssize_t>length:
            return False
    return True


# ---- convolutions


cpdef object convolved_dims(object op, object shape, object other, object axes):
    """The dimensions of a convolution, by default all, counted from the end."""
    cdef int ndim = len(shape)
    if len(other) != ndim:
        raise ValueError(f"{op}: in1 and in2 should have the same dimensionality, but got {ndim} and {len(other)} dimensions")
    dims = list(range(-ndim, 0)) if axes is None else [wrapped(one, ndim) - ndim for one in axes]
    if len(set(dims)) < len(dims):
        raise ValueError(f"{op}: all axes must be unique, but got {list(axes)}")
    if ndim and not dims:
        raise ValueError(f"{op}: when provided, axes cannot be empty")
    return dims


cpdef object convolved_sizes(object op, object shape, object other, object dims, object mode):
    """Sizes of the part that `mode` names; SciPy's "same" is as large as the first signal."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{op}: acceptable mode flags are 'valid', 'same', or 'full', but got {mode!r}")
    if 0 in shape or 0 in other:
        return [0] * len(dims)
    pairs = [(shape[dim], other[dim]) for dim in dims]
    if mode == "full":
        return [a + b - 1 for a, b in pairs]
    return [a if mode == "same" else abs(a - b) + 1 for a, b in pairs]


cpdef object convolved_starts(object op, object shape, object other, object dims, object mode):
    """Where that part begins in the whole convolution."""
    pairs = [(shape[dim], other[dim]) for dim in dims]
    if mode == "same":
        return [(b - 1) // 2 if b else 0 for _, b in pairs]
    if mode != "valid":
        return [0] * len(dims)
    if not (all([a >= b for a, b in pairs]) or all([a <= b for a, b in pairs])):
        raise ValueError(
            f"{op}: for 'valid' mode, one must be at least as large as the other in every dimension, but the signals have "
            f"the shapes {list(shape)} and {list(other)}"
        )
    return [max(min(a, b) - 1, 0) for a, b in pairs]


cpdef object is_quicker_by_fft(object op, object self, object other, object method):
    """Sums of products are quick where one signal is short, and exact, as integers need them."""
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"{op}: acceptable method flags are 'auto', 'direct', or 'fft', but got {method!r}")
    if method == "direct" or (self.dtype.kind in "biu" and other.dtype.kind in "biu"):
        return False
    whole = prod([a + b for a, b in zip(self.shape, other.shape)])
    return method == "fft" or prod(self.shape) * prod(other.shape) > 20 * whole * whole.bit_length()


cpdef object mode_of_vectors(object op, object shape, object other, object mode):
    """The mode of a function of NumPy, which takes two vectors that are not empty."""
    if len(shape) != 1 or len(other) != 1 or shape[0] == 0 or other[0] == 0:
        raise ValueError(f"{op}(): expected two vectors that are not empty, but got the shapes {list(shape)} and {list(other)}")
    return mode


# ---- cosine and sine transforms


cpdef object kind_of_transform(object type, object inverse):
    """The type that undoes one of the four, apart from a factor: types 2 and 3 are inverse to each other."""
    if type not in (1, 2, 3, 4):
        raise ValueError(f"fft: the type of a cosine or sine transform must be 1, 2, 3 or 4, but is {type}")
    return 5 - type if inverse and type in (2, 3) else type
