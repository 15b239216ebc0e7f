"""Helpers for formulas of derivatives.yaml: the parts of a gradient that need a loop, a case or a shape.

Everything here is written with differentiable methods of tensors, so that a gradient that went through a helper has a
gradient itself. The types that formulas may call them with are declared in formulas.pxd.
"""

cimport numpy as cnp

from gradsmith.runtime.calls.arguments cimport is_operand, refuse
from gradsmith.runtime.formulas.numbers cimport count_of, log_number, narrow_index, reduced_axes, wrapped
from gradsmith.runtime.graph.tensor cimport TensorBase

import math
from itertools import accumulate

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.dtypes import common_dtype
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing, layout_of, level_of, physical
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule
from gradsmith.runtime.tensors.factories.creation import full_like, zeros
from gradsmith.runtime.tensors.factories.creation import zeros_like as zeros_of_same_size

cross_entropy = LazyModule("gradsmith.runtime.formulas.cross_entropy")
einsum = LazyModule("gradsmith.runtime.formulas.einsum")
strided = LazyModule("gradsmith.runtime.arrays.strided")

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)


cdef object conjugated(object tensor):
    """Without the copy that the conjugate of a real tensor would be."""
    return tensor.conj() if tensor.is_complex() else tensor


cdef object values_of(object tensor):
    return array_behind(tensor)


cdef object zeros_beside(object tensor, object shape):
    """Zeros of the tensor's dtype, on its device."""
    return zeros(shape, dtype=tensor.dtype, device=tensor.device)


cdef object placed_beside(object tensor, object array):
    """A tensor of `array` on the device of `tensor`."""
    return from_array(array_without_data(array.shape, array.dtype) if tensor.is_meta else array)


# ---- arithmetic


cpdef object zeros_like(object self):
    """The gradient of what is constant between its jumps."""
    return zeros_of_same_size(self)


cpdef object zeros_like_info(object shape, object dtype, object device):
    """`zeros_like` of a tensor of which only shape, dtype and device were kept."""
    return zeros(shape, dtype=dtype, device=device)


cpdef object not_implemented(object what):
    """Takes the place of a gradient that has not been worked out: an error when it is used."""
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


cpdef object is_differentiable(object dtype):
    """Can a tensor of this dtype have a gradient."""
    return dtype.kind in "fc"


cpdef object sgn_backward(object gradient, object self, object value):
    """On the real line sgn is constant; in the plane it turns with the argument."""
    if not self.is_complex():
        return zeros_like(gradient)
    magnitude = self.abs()
    turned = gradient / magnitude - (gradient / value).real * value / magnitude
    return turned.masked_fill(magnitude == 0, 0)


cpdef object div_backward_self(object gradient, object other, object mode):
    return gradient / other if mode is None else zeros_like(gradient)


cpdef object div_backward_other(object gradient, object self, object other, object mode):
    return -gradient * (self / other / other) if mode is None else zeros_like(gradient)


cpdef object pow_backward_self(object gradient, object self, object exponent):
    """Zero where the exponent is, also where the power below it is infinite or NaN.

    There the power is taken of one, so that nothing of that kind enters the gradient of this gradient.

    No loop of its own: numbers as exponents are mostly small integers, whose powers are cheap products.
    """
    if not isinstance(exponent, TensorBase):
        return zeros_like(gradient) if exponent == 0 else gradient * conjugated(exponent * self ** (exponent - 1))
    if exponent.dtype.kind == "b":
        exponent = exponent.to(np.dtype(np.int64))
    size = self.abs()
    least = 1e-154 if size.dtype.itemsize > 4 else 1e-19 if size.dtype.itemsize > 2 else 1e-2     # of finite squares
    base = self.masked_fill((exponent == 0) & (size > least).logical_not(), 1)
    return gradient * conjugated(exponent * base ** (exponent - 1))


cpdef object pow_backward_exponent(object gradient, object self, object exponent, object value):
    """Gradient times ``log(base) * value``; zero where a power of zero stays zero.

    There the logarithm is taken of one, so that nothing infinite enters the gradient of this gradient.
    """
    harmless = (exponent.real if exponent.is_complex() else exponent) >= 0
    if isinstance(self, TensorBase):
        base = self.to(value.dtype)
        return gradient * conjugated(value * base.masked_fill((base == 0) & harmless, 1).log())
    if self == 0:
        return (gradient * conjugated(value * -math.inf)).masked_fill(harmless, 0)
    return gradient * conjugated(value * log_number(complex(self) if value.is_complex() else self))


cpdef object clamp_open(object self, object min, object max):
    """clamp with one bound, or two of which one may be a number and the other a tensor."""
    if min is None and max is None:
        raise RuntimeError("clamp(): at least one of 'min' or 'max' must not be None")
    check_bound(min, "min", 2)
    check_bound(max, "max", 3)
    lifted = self if min is None else self.clamp_min(min)
    return lifted if max is None else lifted.clamp_max(max)


cdef int check_bound(object value, str argument, int position) except -1:
    if value is not None and not is_operand(value):
        refuse(value, "Tensor or number", "clamp", argument, position)
    return 0


cpdef object is_sum(object reduce):
    """Is this the way to reduce that has a derivative? Another one than the two that there are was refused before."""
    return reduce == "add"


cpdef object is_tanh(object approximate):
    """Is gelu to be approximated."""
    if approximate in ("none", "tanh"):
        return approximate == "tanh"
    raise RuntimeError(f"gelu(): approximate argument must be either none or tanh, but is {approximate!r}")


cpdef object fits_loop(object self):
    """Whether compiled loops take the tensor: float32 or float64 of NumPy's own descriptors, aligned."""
    array = values_of(self)
    return (array.dtype is FLOAT32 or array.dtype is FLOAT64) and (array.flags.aligned or has_no_data(array))


cpdef object where_number(object condition, object self, object other):
    """`where` of a condition that is one for all elements: a tensor, also where a number is chosen."""
    chosen, model = (self, other) if condition else (other, self)
    return chosen if isinstance(chosen, TensorBase) else full_like(model, chosen)


# ---- reductions


cdef object restored(object tensor, object shape, object dim, object keepdim):
    """A reduced tensor as keepdim would have left it; `shape` is what it was before."""
    if keepdim:
        return tensor
    reduced = set(reduced_axes(dim, len(shape)))
    return tensor.reshape([1 if axis in reduced else size for axis, size in enumerate(shape)])


cpdef object amax_backward(object gradient, object self, object value, object dim, object keepdim):
    """Equal extrema share the gradient evenly; NaN counts as equal to NaN."""
    gradient = restored(gradient, self.shape, dim, keepdim)
    value = restored(value, self.shape, dim, keepdim)
    chosen = (self == value) | (self.isnan() & value.isnan())
    count = chosen.sum(reduced_axes(dim, self.ndim), True)
    return (gradient / count).masked_fill(chosen.logical_not(), 0)


cpdef object selection_backward(object gradient, object indices, object shape, object dim, object keepdim):
    """The gradient goes to the one element that was chosen along the dimension."""
    if not keepdim and shape:
        gradient, indices = gradient.unsqueeze(dim), indices.unsqueeze(dim)
    return zeros_beside(gradient, shape).scatter(dim, indices, gradient)


cpdef object var_backward(object gradient, object self, object dim, object correction, object keepdim):
    gradient = restored(gradient, self.shape, dim, keepdim)
    center = self.mean(reduced_axes(dim, self.ndim), True)
    freedom = count_of(self.shape, dim) - (1 if correction is None else correction)
    if freedom <= 0 and (dim is None or not self.ndim):  # as PyTorch: infinite, and NaN where the distance is zero
        return gradient * ((self - center).detach().abs() * math.inf)
    return upcalls.scaled_distance(gradient, self, center, 2.0 / freedom if freedom else math.inf)


cpdef object std_backward(object gradient, object self, object value, object dim, object correction, object keepdim):
    """Through the variance; where all elements are equal the gradient is zero, and so is the tangent made of it."""
    of_variance = gradient / (value * 2).masked_fill(value == 0, math.inf)
    return var_backward(of_variance, self, dim, correction, keepdim)


cpdef object logsumexp_backward(object gradient, object self, object value, object dim, object keepdim):
    gradient = restored(gradient, self.shape, dim, keepdim)
    value = restored(value, self.shape, dim, keepdim)
    return gradient * conjugated((self - value).exp())


cpdef object prod_backward(object gradient, object self, object value):
    if self.ndim == 0:  # the product of one number is that number, also of infinity
        return gradient
    return gradient * conjugated(other_factors(as_multiplied(self, value), value, None))


cpdef object prod_backward_dim(object gradient, object self, object value, object dim, object keepdim):
    if self.ndim == 0:
        return gradient
    gradient = restored(gradient, self.shape, (dim,), keepdim)
    value = restored(value, self.shape, (dim,), keepdim)
    return gradient * conjugated(other_factors(as_multiplied(self, value), value, dim))


cdef object other_factors(object self, object value, object dim):
    """For each factor the product of the others, of all where `dim` is None: quotients, if no factor at all is zero.

    Quotients of NaN and infinities are not such products, so a trace, which knows no values, computes both. The one
    that is not wanted is that of ones, whose derivatives are finite.
    """
    if self.is_meta or self.numel() == 0:
        return value / self
    if not is_tracing():
        return products_of_others(self, dim) if has_zeros(self) else value / self
    spoiled = (in_trace(self) == 0).any()
    quotients = value.masked_fill(spoiled, 1) / self.masked_fill(spoiled, 1)
    return upcalls.where(spoiled, products_of_others(self.masked_fill(spoiled.logical_not(), 1), dim), quotients)


cdef bint has_zeros(object self) except -1:
    """Of a batch, has any slice?"""
    while is_batched_tensor(self):
        self = physical(self)
    return not np.all(values_of(self))


cdef object in_trace(object self):
    """The traced tensor of all slices, where some are mapped inside of the trace."""
    while is_batched_tensor(self) and not level_of(self).is_trace:
        self = physical(self)
    return self


cdef object as_multiplied(object self, object value):
    """The factors of a product: `dtype` may have left the real parts of complex ones."""
    return self.to(value.dtype) if self.is_complex() and not value.is_complex() else self


cdef object products_of_others(object tensor, object dim):
    """For each element the product of all others along the dimension, without a division that a zero would spoil."""
    if dim is None:
        return products_of_others(tensor.reshape(-1), 0).reshape(tensor.shape)
    return products_before(tensor, dim) * products_before(tensor.flip(dim), dim).flip(dim)


cdef object products_before(object tensor, object dim):
    """For each element the product of those before it, in as many steps as the length has bits."""
    length = tensor.shape[dim]
    products = shifted(tensor, dim, 1)
    step = 1
    while step < length:
        products = products * shifted(products, dim, step)
        step *= 2
    return products


cdef object shifted(object tensor, object dim, object step):
    """Every element moved `step` places up along the dimension, ones in front."""
    length = tensor.shape[dim]
    if step >= length:
        return placed_beside(tensor, np.ones(tensor.shape, tensor.dtype))
    front = np.zeros(tensor.shape, tensor.dtype)
    front[narrow_index(tensor.shape, dim, 0, step)] = 1
    place = narrow_index(tensor.shape, dim, step, length - step)
    kept = tensor.narrow(dim, 0, length - step)
    return upcalls.basic_index_backward(kept, tensor.shape, place) + placed_beside(tensor, front)


# ---- parts and places


cpdef object flattened(object self, object start_dim, object end_dim):
    """The dimensions from start to end, both included, made one; the tensor itself when they are one already."""
    shape = self.shape
    start, end = wrapped(start_dim, len(shape)), wrapped(end_dim, len(shape))
    if not shape:
        return self.reshape(1)
    if start > end:
        raise RuntimeError(
            f"flatten(): start_dim {start_dim} comes after end_dim {end_dim} in a tensor of size {list(shape)}"
        )
    if start == end:
        return self
    return self.reshape((*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


cpdef object cat_backward(object gradient, object shapes, object dim):
    """The gradient cut as it was joined; an array of size (0,) took no part."""
    lengths = [0 if tuple(shape) == (0,) else shape[dim] for shape in shapes]
    starts = [0, *accumulate(lengths)]
    return [
        zeros_beside(gradient, 0) if tuple(shape) == (0,) else gradient.narrow(dim, start, length)
        for shape, start, length in zip(shapes, starts, lengths)
    ]


cpdef object filled_parts(object gradients, object sizes, object shape, object dtype, object dim):
    """Gradients of consecutive parts; those in a row that were not used are one part of zeros."""
    return filled(gradients, sizes, shape, dtype, wrapped(dim, len(shape)))


cpdef object filled_slices(object gradients, object shape, object dtype, object dim):
    """Gradients of all slices along a dimension as parts of length one, with the missing ones filled as above."""
    axis = wrapped(dim, len(shape))
    parts = [None if gradient is None else gradient.unsqueeze(axis) for gradient in gradients]
    return filled(parts, [1] * len(parts), shape, dtype, axis)


cdef list filled(object parts, object sizes, object shape, object dtype, object axis):
    cdef list found = []
    device = next((part.device for part in parts if part is not None), None)
    missing = 0
    for part, size in zip(parts, sizes):
        if part is None:
            missing += size
            continue
        if missing:
            found.append(zeros(*shape[:axis], missing, *shape[axis + 1 :], dtype=dtype, device=device))
            missing = 0
        found.append(part)
    if missing or not found:
        found.append(zeros(*shape[:axis], missing, *shape[axis + 1 :], dtype=dtype, device=device))
    return found


cpdef object gather_backward(object gradient, object shape, object dim, object index):
    return zeros_beside(gradient, shape).scatter_add(dim, index, gradient)


cpdef object scatter_backward_src(object gradient, object dim, object index, object shape):
    """Elements of `src` that the index does not reach have no gradient."""
    reached = gradient.gather(dim, index)
    if reached.shape == tuple(shape):
        return reached
    if reached.numel() == 0:
        # The sum of nothing: zeros that are still part of the gradient's graph.
        return zeros_beside(gradient, shape).add(reached.sum())
    if not shape:  # one number for one index
        return reached.reshape(())
    places = tuple([slice(size) for size in reached.shape]) or (0,) * len(shape)
    return upcalls.basic_index_backward(reached, shape, places)


cpdef object index_select_backward(object gradient, object shape, object dim, object index):
    return zeros_beside(gradient, shape).index_add(dim, index, gradient)


cpdef object masked_select_backward(object gradient, object shape, object mask):
    places = values_of(mask)
    common = np.broadcast_shapes(tuple(shape), places.shape)
    return zeros_beside(gradient, common).index_put((np.broadcast_to(places, common),), gradient)


# ---- any strides


cpdef object strided_geometry(object self, object size, object stride, object storage_offset):
    array = layout_of(self) if is_batched_tensor(self) else values_of(self)
    return strided.geometry_of_strides(array, size, stride, storage_offset)


cpdef object strided_view_backward(object gradient, object geometry):
    """Gradients added up per place in memory, then read back where the tensor's elements lie.

    Elements of the tensor that share a place share its gradient.
    """
    if gradient.is_meta:
        return zeros_beside(gradient, geometry.from_size) + gradient.sum()
    source, target, sharers, is_plain = strided.common_places(geometry)
    memory = zeros_beside(gradient, sharers.size)
    memory = memory.index_add(0, placed_beside(gradient, target), gradient.reshape(-1))
    if is_plain:
        return memory.reshape(geometry.from_size)
    if sharers.max(initial=0) > 1:
        memory = memory / placed_beside(gradient, np.maximum(sharers, 1))
    return memory.index_select(0, placed_beside(gradient, source)).reshape(geometry.from_size)


cpdef object is_contiguous(object self):
    return self.is_contiguous()


# ---- matrix products with a vector or a batch


cdef list of_one_dtype(object operands):
    dtype = common_dtype(*operands)
    return [operand.to(dtype) for operand in operands]


cpdef object matmul_mixed(object self, object other):
    """The product, as the formula of an external op means it, whose operands may have two dtypes."""
    self, other = of_one_dtype((self, other))
    return self.matmul(other)


cpdef object mm_mixed(object self, object other):
    self, other = of_one_dtype((self, other))
    return self.mm(other)


cpdef object bmm_mixed(object self, object other):
    self, other = of_one_dtype((self, other))
    return self.bmm(other)


cpdef object mv_mixed(object self, object other):
    self, other = of_one_dtype((self, other))
    return self.mv(other)


cpdef object dot_mixed(object self, object other):
    self, other = of_one_dtype((self, other))
    return self.dot(other)


cpdef object linear_mixed(object self, object weight, object bias):
    product = matmul_mixed(self, weight.mT if weight.ndim > 1 else weight)
    return product if bias is None else product + bias


cpdef object einsum_mixed(object equation, object operands):
    return einsum_of_products(equation, of_one_dtype(operands))


cpdef object matmul_backward_self(object gradient, object other, object shape):
    """Gradient of the left operand where one of the two is a vector; batches are summed by the engine."""
    if len(shape) == 1 and other.ndim == 1:
        return gradient * conjugated(other)
    if len(shape) == 1:
        return conjugated(other).matmul(gradient.unsqueeze(-1)).squeeze(-1)
    return gradient.unsqueeze(-1) * conjugated(other)


cpdef object matmul_backward_other(object gradient, object self, object shape):
    """Gradient of the right operand where one of the two is no matrix."""
    if self.ndim == 1 and len(shape) == 1:
        return gradient * conjugated(self)
    if self.ndim == 1:
        return conjugated(self).unsqueeze(-1) * gradient.unsqueeze(-2)
    if len(shape) == 1:
        return flat_rows(conjugated(self)).mT.matmul(gradient.reshape(-1))
    if len(shape) == 2:
        return flat_rows(conjugated(self)).mT.matmul(flat_rows(gradient))
    return conjugated(self).mT.matmul(gradient)


cdef object flat_rows(object tensor):
    """All rows of a batch of matrices as one matrix. Their number is counted, since a row may be empty."""
    batch = tensor.shape[: tensor.ndim - 1]
    return tensor.reshape(math.prod(batch), tensor.shape[tensor.ndim - 1])


cpdef object outer_backward(object gradient, object weight):
    """Gradient of a linear function's input when its weight is one row."""
    return gradient.unsqueeze(-1) * conjugated(weight)


cpdef object linear_backward_weight(object gradient, object self, object weight_ndim):
    if weight_ndim == 1:
        return gradient.reshape(-1).matmul(flat_rows(conjugated(self)))
    return flat_rows(gradient).mT.matmul(flat_rows(conjugated(self)))


# ---- einsum


cpdef object einsum_of_products(object equation, object operands):
    return einsum.einsum_of_products(equation, operands)


# ---- losses


cpdef object nll_backward_weight(
    object gradient, object self, object target, object weight, object ignore, object reduction
):
    """Gradient of the class weights; those of a mean also divide it."""
    dim = class_dim(self.ndim)
    ignored = target == ignore
    classes = target.masked_fill(ignored, 0)
    losses = -self.gather(dim, classes.unsqueeze(dim)).squeeze(dim).masked_fill(ignored, 0)
    if reduction == "mean":
        weights = weight.index_select(0, classes.reshape(-1)).reshape(classes.shape).masked_fill(ignored, 0)
        total = weights.sum()
        losses = ((losses - (weights * losses).sum() / total) / total).masked_fill(ignored, 0)
    of_each = (gradient * losses).reshape(-1)
    return zeros_beside(of_each, weight.shape).index_add(0, classes.reshape(-1), of_each)


cpdef object mse_scale(object reduction, object shape, object target_shape):
    """Derivative of the loss by the difference of one element, divided by that difference."""
    if reduction != "mean":
        return 2.0
    count = math.prod(np.broadcast_shapes(tuple(shape), tuple(target_shape)))
    return 2.0 / count if count else math.nan


cpdef object class_dim(object ndim):
    """The dimension of the classes."""
    if ndim == 0:
        raise RuntimeError("cross_entropy(): expected an input of size (C), (N, C) or (N, C, d1, ...), got a number")
    return 0 if ndim == 1 else 1


cpdef object has_class_indices(object self, object target, object ignore_index, object label_smoothing):
    """Whether the loss is the plain one, nll_loss of a log_softmax."""
    cdef double smoothing = label_smoothing
    if not 0.0 <= smoothing <= 1.0:
        raise RuntimeError(f"cross_entropy(): label_smoothing must be between 0.0 and 1.0, but is {label_smoothing}")
    if is_floating(target):
        if ignore_index >= 0:
            raise RuntimeError(
                f"cross_entropy(): ignore_index is not supported for floating point target, but is {ignore_index}: "
                "probabilities name no class"
            )
        return False
    if target.ndim == self.ndim != 0 and target.shape == self.shape:
        raise RuntimeError(
            f"cross_entropy(): Expected floating point type for target with class probabilities, got {target.dtype}; a target "
            f"of classes has one dimension less than the input, {list(self.shape)}"
        )
    return smoothing == 0


cdef bint is_floating(TensorBase tensor):
    return cnp.PyTypeNum_ISFLOAT(cnp.PyArray_TYPE(<cnp.ndarray>tensor.array))


cpdef object soft_cross_entropy(
    object self, object target, object weight, object ignore, object reduction, object smoothing
):
    return cross_entropy.soft_cross_entropy(self, target, weight, ignore, reduction, smoothing)
