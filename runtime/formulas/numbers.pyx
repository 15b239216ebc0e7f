"""Helpers for formulas of derivatives.yaml that compute sizes, indices and numbers.

The types that formulas may call them with are declared in numbers.pxd.
"""

import cmath
import math


cdef object wrapped(object dim, object ndim):
    count = ndim or 1
    if -count <= dim < count:
        return dim % count
    raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")


cdef object reduced_axes(object dim, object ndim):
    """Axes of a reduction; none given means all."""
    return [wrapped(d, ndim) for d in dim] if dim and ndim else list(range(ndim))


# ---- sizes and indices


cpdef object prod_number(object self):
    return math.prod(self)


cpdef object count_of(object shape, object dim):
    """How many elements a reduction makes one."""
    return math.prod([shape[axis] for axis in reduced_axes(dim, len(shape))])


cpdef object inverse_permutation(object dims):
    """The permutation that undoes `dims`."""
    axes = [d % len(dims) for d in dims]
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


cpdef object moved_dims(object ndim, object source, object destination):
    """The permutation that moves dimensions `source` to the places `destination`; the others keep their order."""
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
            f"of dims as destination ({list(destination)} dims)"
        )
    if len(source) == 1 and ndim:
        order = list(range(ndim))
        moving = order.pop(wrapped(source[0], ndim))
        order.insert(wrapped(destination[0], ndim), moving)
        return tuple(order)
    sources, places = [wrapped(d, ndim) for d in source], [wrapped(d, ndim) for d in destination]
    for name, dims, given in (("source", sources, source), ("destination", places, destination)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    moved = dict(zip(places, sources))
    rest = iter([d for d in range(ndim) if d not in sources])
    return tuple([moved[place] if place in moved else next(rest) for place in range(ndim)])


cpdef object equal_parts(object shape, object size, object dim):
    """Lengths of the parts of `size` along a dimension; the last one may be shorter."""
    total = shape[wrapped(dim, len(shape))]
    full, rest = divmod(total, size) if total else (0, 0)
    return (size,) * full + ((rest,) if rest or not total else ())


cpdef object chunk_sizes(object shape, object chunks, object dim):
    """Lengths of at most `chunks` parts as equal as parts of one length can be."""
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = shape[wrapped(dim, len(shape))]
    return equal_parts(shape, -(-total // chunks), dim) if total else (0,) * chunks


cpdef object select_index(object shape, object dim, object index):
    """The basic index of one slice along a dimension."""
    return (*(slice(None),) * wrapped(dim, len(shape)), index)


cpdef object narrow_index(object shape, object dim, object start, object length):
    """The basic index of consecutive slices along a dimension."""
    axis = wrapped(dim, len(shape))
    first = start + shape[axis] if start < 0 else start
    return (*(slice(None),) * axis, slice(first, first + length))


# ---- numbers, where a formula's tensor may be one; infinities instead of errors, as for tensors


cpdef object conj_number(object self):
    return self.conjugate()


cpdef object real_number(object self):
    return self.real


cpdef object abs_number(object self):
    return abs(self)


cpdef object log_number(object self):
    if self == 0:
        return -math.inf
    if isinstance(self, complex):
        return cmath.log(self)
    return math.log(self) if self > 0 else math.nan


cpdef object exp_number(object self):
    return ieee(math.exp, cmath.exp, self, math.inf)


cpdef object sqrt_number(object self):
    return ieee(math.sqrt, cmath.sqrt, self, math.nan)


cpdef object sin_number(object self):
    return ieee(math.sin, cmath.sin, self, math.nan)


cpdef object cos_number(object self):
    return ieee(math.cos, cmath.cos, self, math.nan)


cdef object ieee(object of_real, object of_complex, object number, object otherwise):
    try:
        return (of_complex if isinstance(number, complex) else of_real)(number)
    except (OverflowError, ValueError):
        return otherwise
