"""Helpers of ops that sort, scan and count; the types that formulas may call them with are in the .pxd."""

cimport numpy as cnp

from gradsmith.runtime.arrays.functions.ordered.quantiles cimport are_shares, neighbours_of_quantiles
from gradsmith.runtime.formulas.numbers cimport reduced_axes, wrapped
from gradsmith.runtime.formulas.written cimport is_computed_alone
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of, wrap

import math
from functools import partial

import numpy as np

from gradsmith.runtime.batching.checked_values import check_values
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.creation import full, tensor

cnp.import_array()


# ---- scans


cpdef object backwards(object self, object dim):
    return self.flip(dim) if self.ndim else self


cpdef object factors(object self, object dtype):
    """The factors as they were multiplied: a real dtype keeps only the real parts of complex numbers."""
    return self.to(dtype) if self.is_complex() and dtype.kind != "c" else self


cpdef object moved_up(object self, object dim, object first):
    """Every element one place up along the dimension, one number in front."""
    if self.ndim == 0:
        return full((), first, dtype=self.dtype, device=self.device)
    axis = wrapped(dim, self.ndim)
    length = self.shape[axis]
    if length == 0:
        return self
    front = full((*self.shape[:axis], 1, *self.shape[axis + 1:]), first, dtype=self.dtype, device=self.device)
    return upcalls.cat([front, self.narrow(axis, 0, length - 1)], axis)


cpdef object differences(object self, object n, object dim, object prepend, object append):
    if self.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"diff(): order of differences must be non-negative, but got {n}")
    if n == 0:      # without what would stand beside it, in NumPy and PyTorch alike
        return self.clone()
    axis = wrapped(dim, self.ndim)
    parts = [part for part in (prepend, self, append) if part is not None]
    if len(parts) > 1:
        if any([part.ndim != self.ndim for part in parts]):
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        self = upcalls.cat(parts, axis)
    for _ in range(min(n, self.shape[axis])):
        length = self.shape[axis]
        after, before = self.narrow(axis, 1, length - 1), self.narrow(axis, 0, length - 1)
        self = after.logical_xor(before) if self.dtype.kind == "b" else after - before
    return self


cpdef object trapezoids(object y, object x, object dx, object dim):
    """The areas below the lines between neighbours."""
    for name, given in (("y", y), ("x", x)):
        if given is not None and given.dtype.kind == "b":
            raise RuntimeError(f"trapezoid(): received a bool input for `{name}`, but bool is not supported")
    axis = wrapped(dim, y.ndim)
    length = y.shape[axis] if y.ndim else 1
    if y.ndim == 0 or length == 0:
        return y.sum() * 0 if y.ndim == 0 else y
    pairs = y.narrow(axis, 1, length - 1) + y.narrow(axis, 0, length - 1)
    if x is None:
        return pairs * dx / 2
    if x.ndim == 1 and x.shape[0] != length or x.ndim == 0:
        raise RuntimeError(
            f"trapezoid(): There must be one `x` value for each sample point, but there are {x.numel()} for {length}"
        )
    along = axis - y.ndim if x.ndim > 1 else 0
    widths = x.diff(1, along)
    if x.ndim == 1:
        widths = widths.reshape([-1 if d == axis else 1 for d in range(y.ndim)])
    return widths * pairs / 2


cpdef object trapezoid_sum(object y, object dx, object dim):
    """The sum of these areas for neighbours `dx` apart: of the inner elements, and half of the outer ones.

    Small distances are multiplied first: the sum alone might be infinite.
    """
    axis = wrapped(dim, y.ndim)
    if y.dtype.kind not in "fc" or y.ndim == 0 or y.shape[axis] < 2 or not is_finite_number(dx):
        return trapezoids(y, None, dx, dim).sum(dim)
    if axis:        # inner elements are not in one piece
        return weighted_sum(y, axis, dx)
    if abs(dx) < 1:
        return trapezoid_sum(y * dx, 1, dim)
    length = y.shape[0]
    area = y.narrow(0, 1, length - 2).sum(0) + (y[::length - 1] * 0.5).sum(0)
    return area if dx == 1 else area * dx


cdef object weighted_sum(object y, object axis, object dx):
    weights = weights_along(y, axis, dx)
    if axis == y.ndim - 1 and (y.dtype == np.float32 or y.dtype == np.float64):
        return y.matmul(weights.reshape(-1))
    return (y * weights).sum(axis)


cdef object weights_along(object y, object axis, object dx):
    """What each element counts for in the sum."""
    cdef list shape = [1] * y.ndim
    shape[axis] = y.shape[axis]
    if y.is_meta:
        return full(shape, dx, dtype=y.dtype, device=y.device)
    weights = np.full(y.shape[axis], dx, y.dtype)
    weights[[0, -1]] /= 2
    return from_array(weights.reshape(shape))


cdef bint is_finite_number(object dx) except -1:
    """Other distances make NaN of an area of zero, which only the sum of areas shows."""
    return isinstance(dx, (int, float)) and math.isfinite(dx)


# ---- quantiles


cpdef object quantile_along(object self, object q, object dim, object keepdim, object interpolation, object ignore_nan):
    op = "nanquantile" if ignore_nan else "quantile"
    q = checked_quantiles(op, self, q)
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"{op}(): interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if self.numel() == 0:
        raise RuntimeError(f"{op}(): input tensor must be non-empty")
    ndim = self.ndim
    axis = 0 if dim is None else wrapped(dim, ndim)
    rows = self.reshape(-1) if dim is None or ndim == 0 else self.movedim(axis, -1)
    shares = q.reshape(-1)
    if is_computed_alone(self, q):
        found = between_arrays(rows, shares, interpolation, ignore_nan)
    else:
        found = between(rows, shares, interpolation, ignore_nan)
    kept = [1] * ndim if dim is None else [1 if d == axis else n for d, n in enumerate(self.shape)]
    shape = kept if keepdim else [] if dim is None else [n for d, n in enumerate(self.shape) if d != axis]
    return found.movedim(-1, 0).reshape([*q.shape, *shape])


cdef object checked_quantiles(op, object self, object q):
    if cnp.PyArray_TYPE(<cnp.ndarray>(<TensorBase>self).array) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        raise RuntimeError(f"{op}() input tensor must be either float or double dtype")
    if not isinstance(q, TensorBase):
        q = tensor(q, dtype=self.dtype, device=self.device)
    if q.ndim > 1:
        raise RuntimeError(f"{op}() q must be a scalar or 1D tensor")
    if q.dtype != self.dtype:
        raise RuntimeError(f"{op}() q tensor must be same dtype as the input tensor")
    if not is_computed_alone(self, q):
        check_values(partial(expect_shares, op), q)
    elif not are_shares(array_of(q)):
        raise no_shares(op)
    return q


def expect_shares(op, q):
    if not ((q >= 0) & (q <= 1)).all():
        raise no_shares(op)


cdef object no_shares(op):
    return RuntimeError(f"{op}() q values must be in the range [0, 1]")


cdef object between(object rows, object q, object interpolation, object ignore_nan):
    """Of each row the elements between which the quantiles lie, weighed.

    NaN comes last in a row. Where it counts, it is taken for all quantiles of its row; gradients go there as well.
    """
    long = np.dtype(np.int64)
    ordered = rows.sort(-1)[0]
    ranks = ranks_of(rows, q, ignore_nan)
    whole = ranks.detach()
    below = whole.floor()
    if interpolation == "nearest":
        below = whole.round()
    elif interpolation == "higher":
        below = whole.ceil()
    low = ordered.gather(-1, below.to(long))
    if interpolation not in ("linear", "midpoint"):
        return low
    high = ordered.gather(-1, whole.ceil().to(long))
    weight = ranks - below if interpolation == "linear" else (ranks - below) * 0 + 0.5
    return low.lerp(high, weight)


cdef object between_arrays(object rows, object q, object interpolation, object ignore_nan):
    """The same without a history."""
    low, high, weight = neighbours_of_quantiles(array_of(rows.sort(-1)[0]), array_of(q), interpolation, ignore_nan)
    return wrap(low) if high is None else wrap(low).lerp(wrap(high), wrap(weight))


cdef object ranks_of(object rows, object q, object ignore_nan):
    """Where quantiles lie in ordered rows, between two places: in a row with NaN that counts, in the last one."""
    last = rows.shape[rows.ndim - 1] - 1
    missing = rows.isnan()
    count = (last + 1 - missing.sum(-1, True)).clamp_min(1) if ignore_nan else last + 1
    ranks = (q * (count - 1)).expand(*rows.shape[:rows.ndim - 1], q.shape[0])
    return ranks if ignore_nan else ranks.masked_fill(missing.any(-1, True), last)


# ---- norms and counts


cpdef object norm_input(object self, object dtype):
    if dtype is not None and self.is_complex() and dtype.kind != "c":
        raise RuntimeError(f"norm(): dtype should be complex for complex inputs, but got {dtype}")
    if dtype is not None and np.promote_types(self.dtype, dtype) != dtype:
        raise RuntimeError(
            f"norm(): the dtype of the input ({self.dtype}) should be convertible without narrowing to the specified dtype "
            f"({dtype})"
        )
    wanted = self if dtype is None else self.to(dtype)
    if wanted.dtype.kind in "fc":
        return wanted
    raise RuntimeError(f"norm(): Expected a floating point or complex tensor as input. Got {wanted.dtype}")


cpdef object is_nuclear(object p):
    return isinstance(p, str) and p == "nuc"


cpdef object matrix_dims(object op, object self, object dim):
    """The two dimensions of a matrix norm: those named, or all that there are."""
    dims = list(range(self.ndim)) if dim is None else dim
    if len(dims) != 2:
        raise RuntimeError(f"{op}(): the nuclear norm is one of matrices: name two dimensions, not {list(dims)}")
    return list(dims)


cpdef object norm_order(object p):
    """PyTorch's words for norms of the elements: "fro" is the 2-norm, whatever the number of dimensions."""
    if isinstance(p, str):
        if p not in ("fro", "inf", "-inf"):
            raise RuntimeError(f"norm(): p must be a number, 'fro', 'nuc', 'inf' or '-inf', but is {p!r}")
        return 2.0 if p == "fro" else float(p)
    return 2.0 if p is None else float(p)


cpdef object p_norm_backward(object gradient, object self, object value, object p, object dim, object keepdim):
    """Zero where the norm is, also of what infinity would come from."""
    if not keepdim:
        reduced = set(reduced_axes(dim, self.ndim))
        shape = [1 if axis in reduced else size for axis, size in enumerate(self.shape)]
        gradient, value = gradient.reshape(shape), value.reshape(shape)
    if p == 0:
        return (gradient * 0).expand(self.shape)
    if p == 1:
        return self.sgn() * gradient
    if p == 2:
        return gradient * (self / value.masked_fill(value == 0, math.inf))
    magnitude = self.abs()
    if math.isinf(p):
        chosen = (magnitude == value) | (magnitude.isnan() & value.isnan())
        return self.sgn() * (gradient / chosen.sum(reduced_axes(dim, self.ndim), True)).masked_fill(~chosen, 0)
    safe = magnitude.masked_fill(magnitude == 0, 1)
    slope = (safe / value.masked_fill(value == 0, math.inf)) ** (p - 1)
    return self.sgn() * gradient * slope.masked_fill(magnitude == 0, 0)


cpdef object counted_numbers(object self, object dim, object keepdim):
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype}")
    return self.isnan().logical_not().sum(None if dim is None else dim, keepdim)
