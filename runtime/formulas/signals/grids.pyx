"""Helpers of ops that interpolate, pad and choose as NumPy does; the types that formulas may call them with are in the
.pxd.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.formulas.numbers cimport wrapped

import math

import numpy as np

from gradsmith.runtime.arrays.dtypes import get_default_dtype, promote_types
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.creation import full, tensor


# ---- interpolated


cpdef object interpolated(object x, object xp, object fp, object left, object right, object period):
    """Values between points, on straight lines."""
    check_points(x, xp, fp)
    x, xp, fp = of_places(x, xp, fp)
    if period is not None:
        x, xp, fp = wound(x, xp, fp, abs(period))
        left = right = None
    count = xp.shape[0]
    below, above = x < xp[0], x > xp[-1]
    number = upcalls.bucketize(x.detach(), xp.detach(), right=True) - 1
    point = number.clamp(0, count - 1)
    piece = number.clamp(0, max(count - 2, 0))
    end = (piece + 1).clamp_max(count - 1)  # of a single point itself
    width = at(xp, end) - at(xp, piece)
    rise = (at(fp, end) - at(fp, piece)) / width.masked_fill(width == 0, 1)
    found = at(fp, point) + (rise * (x - at(xp, point))).masked_fill(below | above, 0)
    if left is not None:
        found = upcalls.where(below, tensor(left, dtype=found.dtype, device=x.device), found)
    return found if right is None else upcalls.where(above, tensor(right, dtype=found.dtype, device=x.device), found)


cdef object at(object vector, object places):
    """Elements of a vector at places that follow from values: of `gather` a sparsity pattern allows any place."""
    return vector.gather(0, places.reshape(-1)).reshape(places.shape)


cdef int check_points(object x, object xp, object fp) except -1:
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError(f"interp(): xp and fp must be vectors, but have {xp.ndim} and {fp.ndim} dimensions")
    if xp.shape != fp.shape:
        raise ValueError(f"interp(): fp and xp are not of the same length: {fp.shape[0]} and {xp.shape[0]}")
    if not xp.shape[0]:
        raise ValueError("interp(): there are no points to interpolate between, xp is empty")
    if x.is_complex() or xp.is_complex():
        raise TypeError("interp(): x and xp must be real; only fp may be complex")
    return 0


cdef tuple of_places(object x, object xp, object fp):
    """The places in one floating dtype, and the values in a floating one."""
    dtype = floating_dtype(promote_types(x.dtype, xp.dtype))
    if fp.dtype.kind == "f":
        dtype = promote_types(dtype, fp.dtype)
    return x.to(dtype), xp.to(dtype), fp.to(floating_dtype(fp.dtype))


cdef object floating_dtype(object dtype):
    return dtype if dtype.kind in "fc" else get_default_dtype()


cdef tuple wound(object x, object xp, object fp, object period):
    """One period in ascending order, with a neighbour from the next period on each side."""
    if period == 0:
        raise ValueError("interp(): period must be a non-zero value")
    x, xp = x % period, xp % period
    order = xp.detach().argsort(stable=True)
    xp, fp = at(xp, order), at(fp, order)
    xp = upcalls.cat([xp[-1:] - period, xp, xp[:1] + period], 0)
    return x, xp, upcalls.cat([fp[-1:], fp, fp[:1]], 0)


# ---- padded

# How NumPy pads, and the arguments that belong to it.
cdef dict MODES = {
    "constant": ("constant_values",), "edge": (), "linear_ramp": ("end_values",), "maximum": ("stat_length",),
    "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",), "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",), "wrap": (),
}


cpdef object padded_by_mode(
    object self, object pad_width, object mode, object stat_length, object constant_values, object end_values,
    object reflect_type,
):
    """Padded along one dimension after the other, each over what the ones before have added."""
    given = {
        "stat_length": stat_length, "constant_values": constant_values, "end_values": end_values,
        "reflect_type": reflect_type,
    }
    check_mode(mode, given)
    widths = counts_for_dims(pad_width, self.ndim, "pad_width")
    more = {name: value for name, value in given.items() if value is not None and name != "reflect_type"}
    pairs = {
        name: counts_for_dims(value, self.ndim, name) if name == "stat_length" else pairs_for_dims(value, self.ndim, name)
        for name, value in more.items()
    }
    result = self
    for dim, (before, after) in enumerate(widths):
        if not before and not after:
            continue
        if mode != "constant" and not self.shape[dim]:
            raise ValueError(f"pad(): can't extend the empty dimension {dim} using modes other than 'constant'")
        one = {name: pair[dim] for name, pair in pairs.items()}
        result = padded_along(result, dim, before, after, mode, one, self.shape[dim], reflect_type or "even")
    return self.clone() if result is self else result


cdef int check_mode(object mode, object given) except -1:
    if mode not in MODES:
        raise ValueError(f"pad(): mode {mode!r} is not supported; it is one of {', '.join(MODES)}")
    foreign = [name for name, value in given.items() if value is not None and name not in MODES[mode]]
    if foreign:
        raise ValueError(f"pad(): unsupported arguments for mode {mode!r}: {', '.join(foreign)}")
    if given["reflect_type"] not in (None, "even", "odd"):
        raise ValueError(f"pad(): reflect_type must be 'even' or 'odd', but is {given['reflect_type']!r}")
    return 0


cdef list pairs_for_dims(object value, object ndim, str name):
    """A pair for each dimension, of one for all of them, or one number for all."""
    if isinstance(value, TensorBase):
        if value.ndim:
            raise ValueError(f"pad(): {name} must be numbers or one tensor without dimensions, not of size {value.shape}")
        return [(value, value)] * ndim
    try:
        return np.broadcast_to(np.asarray(value), (ndim, 2)).tolist()
    except ValueError:
        raise ValueError(
            f"pad(): {name} must be one number, a pair, or a pair for each of the {ndim} dimensions, but is {value!r}"
        ) from None


cdef list counts_for_dims(object value, object ndim, str name):
    if isinstance(value, dict):
        value = [value.get(dim, value.get(dim - ndim, 0)) for dim in range(ndim)]
        value = [(one, one) if np.ndim(one) == 0 else tuple(one) for one in value]
    pairs = pairs_for_dims(value, ndim, name)
    for count in [count for pair in pairs for count in pair]:
        if not isinstance(count, int):
            raise TypeError(f"pad(): {name} must be of integers, but is {value!r}")
        if count < 0:
            raise ValueError(f"pad(): {name} can't contain negative values, but is {value!r}")
    return pairs


cdef object padded_along(
    object self, object dim, object before, object after, object mode, dict more, object length, object reflect_type
):
    if mode == "constant":
        low, high = more.get("constant_values", (0, 0))
        return joined(constant(self, dim, before, low), self, constant(self, dim, after, high), dim)
    if mode == "linear_ramp":
        low, high = more.get("end_values", (0, 0))
        first, last = self.narrow(dim, 0, 1), self.narrow(dim, length - 1, 1)
        return joined(ramp(first, dim, before, low), self, ramp(last, dim, after, high).flip(dim), dim)
    if mode in ("maximum", "minimum", "mean", "median"):
        low, high = more.get("stat_length", (length, length))
        if mode in ("maximum", "minimum") and not (low and high):
            raise ValueError("pad(): stat_length of 0 yields no value for padding")
        first, last = self.narrow(dim, 0, min(low, length)), self.narrow(dim, max(length - high, 0), min(high, length))
        return joined(
            repeated(padding_statistic(first, dim, mode), dim, before), self, repeated(padding_statistic(last, dim, mode), dim, after), dim
        )
    places = np.pad(np.arange(length), (before, after), mode)
    if mode in ("reflect", "symmetric") and reflect_type == "odd":
        return reflected_in_points(self, dim, places, before, after, mode)
    return self.index_select(dim, tensor(places, device=self.device))


cdef object joined(object before, object self, object after, object dim):
    parts = [part for part in (before, self, after) if part is self or part.shape[dim]]
    return upcalls.cat(parts, dim) if len(parts) > 1 else self


cdef object constant(object like, object dim, object length, object value):
    shape = (*like.shape[:dim], length, *like.shape[dim + 1:])
    if isinstance(value, TensorBase):
        return value.to(like.dtype).expand(shape)
    return full(shape, np.array(value).astype(like.dtype).item(), dtype=like.dtype, device=like.device)


cdef object repeated(object self, object dim, object count):
    return self.expand(*self.shape[:dim], count, *self.shape[dim + 1:])


cdef object ramp(object edge, object dim, object count, object end):
    """In equal steps from `end` to what comes before the edge."""
    shape = [count if d == dim else 1 for d in range(edge.ndim)]
    dtype = edge.dtype if edge.dtype.kind in "fc" else np.dtype(np.float64)
    parts = tensor(np.arange(count) / (count or 1), dtype=dtype, device=edge.device).reshape(shape)
    start = end.to(dtype) if isinstance(end, TensorBase) else end
    found = (edge.to(dtype) - start) * parts + start
    return found if dtype == edge.dtype else found.floor().to(edge.dtype)


cpdef object padding_statistic(object self, object dim, object mode):
    if mode == "maximum":
        return self.amax(dim, True)
    if mode == "minimum":
        return self.amin(dim, True)
    wide = self if self.dtype.kind in "fc" else self.double()
    if mode == "mean":
        found = wide.mean(dim, True)
    else:
        ordered = wide.sort(dim).values
        length = self.shape[dim]
        found = (ordered.narrow(dim, (length - 1) // 2, 1) + ordered.narrow(dim, length // 2, 1)) / 2
        found = upcalls.where(self.isnan().any(dim, True), math.nan, found) if self.dtype.kind == "f" else found
    return found if found.dtype == self.dtype else found.round().to(self.dtype)


cdef object reflected_in_points(object self, object dim, object places, object before, object after, object mode):
    """Twice the edge less the reflected element: an element and multiples of both edges, which NumPy's own padding of
    unit vectors tells."""
    length = self.shape[dim]
    of_first, of_last = [
        np.pad(unit, (before, after), mode, reflect_type="odd") for unit in np.eye(length, dtype=np.int64)[[0, -1]]
    ]
    if length == 1:
        of_last = of_last * 0
    shape = [-1 if d == dim else 1 for d in range(self.ndim)]
    first, last, own = [
        tensor(factors, dtype=self.dtype, device=self.device).reshape(shape)
        for factors in (of_first, of_last, 1 - of_first - of_last)
    ]
    inner = times(own, self.index_select(dim, tensor(places, device=self.device)))
    return inner + times(first, self.narrow(dim, 0, 1)) + times(last, self.narrow(dim, length - 1, 1))


cdef object times(object factor, object self):
    """Where the factor is zero, so is the product, also with an infinity."""
    return (factor * self).masked_fill(factor == 0, 0)


# ---- chosen


cpdef object with_elements_along(object self, object indices, object values, object dim):
    if indices.dtype.kind not in "iu":
        raise IndexError(f"put_along_dim(): indices must be integers, but have dtype {indices.dtype}")
    if dim is None:
        if indices.ndim != 1:
            raise ValueError(f"put_along_dim(): without dim, indices must be a vector, not of size {list(indices.shape)}")
        return with_elements_along(self.reshape(-1), indices, values, 0).reshape(self.shape)
    if self.ndim != indices.ndim:
        raise ValueError(
            "put_along_dim(): indices and the tensor must have the same number of dimensions, but have "
            f"{indices.ndim} and {self.ndim}"
        )
    axis = wrapped(dim, self.ndim)
    if any([d != axis and there not in (1, size) for d, (there, size) in enumerate(zip(indices.shape, self.shape))]):
        raise IndexError(
            f"put_along_dim(): indices of size {list(indices.shape)} do not broadcast to the tensor's size "
            f"{list(self.shape)} along the dimensions other than {dim}"
        )
    places = tuple([
        indices if d == axis else tensor(np.arange(size), device=self.device).reshape(
            [-1 if d == other else 1 for other in range(self.ndim)]
        )
        for d, size in enumerate(self.shape)
    ])
    return self.index_put(places, values.to(self.dtype) if isinstance(values, TensorBase) else values)


cpdef object chosen_from(object self, object choices, object mode):
    if self.dtype.kind not in "iub":
        raise TypeError(f"choose(): the numbers of the choices must be integers, but have dtype {self.dtype}")
    count = len(choices)
    if not count:
        raise ValueError("choose(): there must be at least one choice")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose(): mode must be 'raise', 'wrap' or 'clip', but is {mode!r}")
    number = self.long()
    if mode == "wrap":
        number = number % count
    elif mode == "clip":
        number = number.clamp(0, count - 1)
    shape = np.broadcast_shapes(self.shape, *[choice.shape for choice in choices])
    number = number.expand(shape)
    dtype = choices[0].dtype
    for choice in choices[1:]:
        dtype = promote_types(dtype, choice.dtype)
    stacked = upcalls.stack([choice.to(dtype).expand(shape) for choice in choices], 0)
    return stacked.gather(0, number.unsqueeze(0)).squeeze(0)


cpdef object whole_part(object self):
    return self.to(floating_dtype(self.dtype)).trunc()


cpdef object fraction_part(object self):
    """That of an infinity is zero."""
    x = self.to(floating_dtype(self.dtype))
    return (x - x.trunc()).masked_fill(x.isinf(), 0)
