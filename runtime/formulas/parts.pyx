"""Helpers for the key `batch` of derivatives.yaml: ops that take the place of others where these are batched.

They are written with methods of tensors, for the tensors of one slice.
"""

from gradsmith.runtime.formulas.formulas cimport class_dim
from gradsmith.runtime.formulas.numbers cimport reduced_axes, wrapped
from gradsmith.runtime.graph.tensor cimport TensorBase

import numpy as np

from gradsmith.runtime.arrays.dtypes import promote_types
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import zeros


# ---- shapes

cpdef object restored_sizes(object shape, object ndim, object dim, object keepdim):
    """The shape of a reduced tensor as keepdim would have left it."""
    if keepdim:
        return shape
    reduced = set(reduced_axes(dim, ndim))
    sizes = iter(shape)
    return tuple([1 if axis in reduced else next(sizes) for axis in range(ndim)])


cpdef object reversed_dims(object ndim):
    return tuple(reversed(range(ndim)))


cpdef object unit_dims(object shape):
    return tuple([dim for dim, size in enumerate(shape) if size == 1])


cpdef object summed_to(object self, object size):
    extra = self.ndim - len(size)
    stretched = [extra + dim for dim, wanted in enumerate(size) if wanted == 1 != self.shape[extra + dim]]
    dims = (*range(extra), *stretched)
    return self.sum(dims, True).reshape(size) if dims else self.clone()


# ---- values

cpdef object filling(object self, object value):
    """The value that fills a tensor, in its dtype, as a tensor without dimensions."""
    return value.to(self.dtype) if isinstance(value, TensorBase) else from_array(np.asarray(value, self.dtype))


# ---- indices

cdef object places_along(object self, object dim, object index):
    return (*(slice(None),) * wrapped(dim, self.ndim), index.reshape(-1))


cpdef object index_selected(object self, object dim, object index):
    if self.ndim == 0:
        return self.reshape(1)[index.reshape(-1)].reshape(())
    return self[places_along(self, dim, index)]


cpdef object index_added(object self, object dim, object index, object source, object alpha):
    values = source if alpha == 1 else (source * alpha).to(self.dtype)
    if self.ndim == 0:
        return self.reshape(1).index_put((index.reshape(-1),), values.reshape(-1), True).reshape(())
    if source.ndim == 0:
        values = values.reshape(1)
    return self.index_put(places_along(self, dim, index), values, True)


# ---- losses

cdef object reduced(object losses, object reduction):
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()


cpdef object mse_by_parts(object self, object target, object reduction):
    dtype = promote_types(self.dtype, target.dtype)  # also where one of them has no dimensions
    return reduced((self.to(dtype) - target.to(dtype)).square(), reduction)


cdef tuple classes_and_weights(object self_dtype, object target, object weight, object ignore_index):
    """The classes, harmless where they are ignored, and the weights of the elements, zero there."""
    ignored = target == ignore_index
    classes = target.masked_fill(ignored, 0)
    kept = ignored.logical_not().to(self_dtype)
    return classes, kept if weight is None else kept * weight[classes].to(self_dtype)


cpdef object nll_by_parts(object self, object target, object weight, object ignore_index, object reduction):
    dim = class_dim(self.ndim)
    classes, weights = classes_and_weights(self.dtype, target, weight, ignore_index)
    picked = self.gather(dim, classes.unsqueeze(dim)).squeeze(dim)
    losses = -(picked.masked_fill(weights == 0, 0) * weights)
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / weights.sum()


cpdef object nll_backward_by_parts(
    object gradient, object shape, object target, object weight, object ignore_index, object reduction
):
    dim = class_dim(len(shape))
    classes, weights = classes_and_weights(gradient.dtype, target, weight, ignore_index)
    if reduction == "mean":
        weights = weights / weights.sum()
    values = -(gradient * weights).masked_fill(target == ignore_index, 0)  # also where the gradient is NaN
    return zeros(shape, dtype=gradient.dtype, device=gradient.device).scatter(dim, classes.unsqueeze(dim), values.unsqueeze(dim))
