"""Helpers of reductions that leave NaN out, of averages and percentiles; see the .pxd for the types.

They are written with methods of tensors, so the ops that call them are differentiated and batched by their parts.
"""

from gradsmith.runtime.formulas.numbers cimport reduced_axes

import math

import numpy as np

from gradsmith.runtime.graph.tensor import TensorBase


# ---- NaN left out


cpdef object without_nan(object self, object value):
    return self.masked_fill(self.isnan(), value) if self.dtype.kind in "fc" else self


cpdef object extreme_without_nan(object self, object dim, object keepdim, object is_greatest):
    """NaN only where there is nothing else."""
    dims = dim or ()
    if self.dtype.kind != "f":
        return self.amax(dims, keepdim) if is_greatest else self.amin(dims, keepdim)
    found = without_nan(self, -math.inf).amax(dims, keepdim) if is_greatest else (
        without_nan(self, math.inf).amin(dims, keepdim))
    return found.masked_fill(self.isnan().all(dim or None, keepdim), math.nan)


cpdef object product_without_nan(object self, object dim, object keepdim):
    found = without_nan(self, 1)
    for axis in sorted(reduced_axes(dim, self.ndim), reverse=True):
        found = found.prod(axis, keepdim)
    return found


cpdef object variance_without_nan(object self, object dim, object ddof, object keepdim):
    x = floating(self)
    missing = x.isnan()
    counts = missing.logical_not().sum(dim, True).to(x.real.dtype)
    means = without_nan(x, 0).sum(dim, True) / counts
    deviations = (x - means).masked_fill(missing, 0)
    squares = (deviations * deviations.conj()).real if x.is_complex() else deviations.square()
    found = squares.sum(dim, keepdim)
    freedom = (counts - ddof).reshape(found.shape)
    return (found / freedom).masked_fill(freedom <= 0, math.nan)


cpdef object deviation_without_nan(object self, object dim, object ddof, object keepdim):
    variance = variance_without_nan(self, dim, ddof, keepdim)
    still = variance == 0
    return variance.masked_fill(still, 1).sqrt().masked_fill(still, 0)


cdef object floating(object self):
    return self if self.dtype.kind in "fc" else self.float()


# ---- means and percentiles


cpdef object percentages(object q):
    return q / 100 if isinstance(q, TensorBase) else (np.asarray(q, np.float64) / 100).tolist()


cpdef object averages(object self, object dim, object weights, object keepdim):
    x = floating(self)
    if weights is None:
        return x.mean(dim, keepdim)
    weights = fitting(x, dim, weights)
    return (x * weights).sum(dim, keepdim) / weights.sum(dim, keepdim)


cdef object fitting(object self, object dim, object weights):
    """Weights of the elements; a vector is one for each slice along the dimension."""
    if tuple(weights.shape) == tuple(self.shape):
        return weights
    if dim is None:
        raise TypeError("average(): axis must be specified when the shapes of the input and the weights differ")
    (axis, *others) = reduced_axes(dim, self.ndim)
    if others or tuple(weights.shape) != (self.shape[axis],):
        raise ValueError(
            f"average(): weights of size {list(weights.shape)} are neither of the input's size, {list(self.shape)}, nor one "
            f"number for each slice along dimension {list(dim)}"
        )
    return weights.reshape([-1 if d == axis else 1 for d in range(self.ndim)]).expand(self.shape)
