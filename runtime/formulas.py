"""What formulas of derivatives.yaml call beyond ops: the parts of a gradient that need a loop, a case or a shape.

Everything here is written with differentiable methods of tensors, so that a gradient that went through a helper has a
gradient itself. The names and signatures are those of codegen/vocabulary.py. Helpers that only compute sizes and
indices come first, those over numbers last.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from gradsmith.runtime.creation import zeros
from gradsmith.runtime.creation import zeros_like as _zeros_like
from gradsmith.runtime.einsum import einsum_of_products
from gradsmith.runtime.tensor import TensorBase, from_array

__all__ = ["einsum_of_products"]

Tensor = Any
Number = Any
Shape = Sequence[int]


def _conj(tensor: Tensor) -> Tensor:
    """Without the copy that the conjugate of a real tensor would be."""
    return tensor.conj() if tensor.is_complex() else tensor


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.numpy(force=True)


def _axis(dim: int, ndim: int) -> int:
    count = ndim or 1
    if -count <= dim < count:
        return dim % count
    raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")


def _axes(dim: Shape | None, ndim: int) -> list[int]:
    """Axes of a reduction; none given means all."""
    return [_axis(d, ndim) for d in dim] if dim and ndim else list(range(ndim))


# ---- sizes and indices


def count_of(shape: Shape, dim: Shape | None) -> int:
    """How many elements a reduction makes one."""
    return math.prod(shape[axis] for axis in _axes(dim, len(shape)))


def flat_shape(shape: Shape, start_dim: int, end_dim: int) -> tuple[int, ...]:
    """The shape with the dimensions from start to end, both included, made one."""
    if not shape:
        return (1,)
    start, end = _axis(start_dim, len(shape)), _axis(end_dim, len(shape))
    if start > end:
        raise RuntimeError(
            f"flatten(): start_dim {start_dim} comes after end_dim {end_dim} in a tensor of size {list(shape)}"
        )
    return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


def inverse_permutation(dims: Shape) -> tuple[int, ...]:
    """The permutation that undoes `dims`."""
    axes = [d % len(dims) for d in dims]
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def equal_parts(shape: Shape, size: int, dim: int) -> tuple[int, ...]:
    """Lengths of the parts of `size` along a dimension; the last one may be shorter."""
    total = shape[_axis(dim, len(shape))]
    full, rest = divmod(total, size) if total else (0, 0)
    return (size,) * full + ((rest,) if rest or not total else ())


def chunk_sizes(shape: Shape, chunks: int, dim: int) -> tuple[int, ...]:
    """Lengths of at most `chunks` parts as equal as parts of one length can be."""
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = shape[_axis(dim, len(shape))]
    return equal_parts(shape, -(-total // chunks), dim) if total else (0,) * chunks


def select_index(shape: Shape, dim: int, index: int) -> tuple[Any, ...]:
    """The basic index of one slice along a dimension."""
    return (*(slice(None),) * _axis(dim, len(shape)), index)


def narrow_index(shape: Shape, dim: int, start: int, length: int) -> tuple[Any, ...]:
    """The basic index of consecutive slices along a dimension."""
    axis = _axis(dim, len(shape))
    first = start + shape[axis] if start < 0 else start
    return (*(slice(None),) * axis, slice(first, first + length))


# ---- arithmetic


def zeros_like(self: Tensor) -> Tensor:
    """The gradient of what is constant between its jumps."""
    return _zeros_like(self)


def sgn_backward(gradient: Tensor, self: Tensor, value: Tensor) -> Tensor:
    """On the real line sgn is constant; in the plane it turns with the argument."""
    if not self.is_complex():
        return zeros_like(gradient)
    magnitude = self.abs()
    turned = gradient / magnitude - (gradient / value).real * value / magnitude
    return turned.masked_fill(magnitude == 0, 0)


def div_backward_self(gradient: Tensor, other: Tensor | Number, mode: str | None) -> Tensor:
    return gradient / other if mode is None else zeros_like(gradient)


def div_backward_other(gradient: Tensor, other: Tensor, value: Tensor, mode: str | None) -> Tensor:
    return -gradient * (value / other) if mode is None else zeros_like(gradient)


def pow_backward_exponent(gradient: Tensor, self: Tensor | Number, exponent: Tensor, value: Tensor) -> Tensor:
    """Gradient times ``log(base) * value``; zero where a power of zero stays zero.

    There the logarithm is taken of one, so that nothing infinite enters the gradient of this gradient.
    """
    harmless = (exponent.real if exponent.is_complex() else exponent) >= 0
    if not isinstance(self, TensorBase):
        if self == 0:
            return (gradient * _conj(value * -math.inf)).masked_fill(harmless, 0)
        return gradient * _conj(value * log_number(self))
    return gradient * _conj(value * self.masked_fill((self == 0) & harmless, 1).log())


def clamp_open(self: Tensor, min: Any, max: Any) -> Tensor:
    """clamp with one bound, or two of which one may be a number and the other a tensor."""
    if min is None and max is None:
        raise RuntimeError("clamp(): at least one of 'min' or 'max' must not be None")
    lifted = self if min is None else self.clamp_min(min)
    return lifted if max is None else lifted.clamp_max(max)


def is_tanh(approximate: str) -> bool:
    """Whether gelu is to be approximated."""
    if approximate in ("none", "tanh"):
        return approximate == "tanh"
    raise RuntimeError(f"gelu(): approximate must be 'none' or 'tanh', but is {approximate!r}")


# ---- reductions


def _restored(tensor: Tensor, shape: Shape, dim: Shape | None, keepdim: bool) -> Tensor:
    """A reduced tensor as keepdim would have left it; `shape` is what it was before."""
    if keepdim:
        return tensor
    reduced = set(_axes(dim, len(shape)))
    return tensor.reshape([1 if axis in reduced else size for axis, size in enumerate(shape)])


def amax_backward(gradient: Tensor, self: Tensor, value: Tensor, dim: Shape, keepdim: bool) -> Tensor:
    """Equal extrema share the gradient evenly; NaN counts as equal to NaN."""
    gradient = _restored(gradient, self.shape, dim, keepdim)
    value = _restored(value, self.shape, dim, keepdim)
    chosen = (self == value) | (self.isnan() & value.isnan())
    count = chosen.sum(_axes(dim, self.ndim), True)
    return (gradient / count).masked_fill(chosen.logical_not(), 0)


def selection_backward(gradient: Tensor, indices: Tensor, shape: Shape, dim: int, keepdim: bool) -> Tensor:
    """The gradient goes to the one element that was chosen along the dimension."""
    if not keepdim and shape:
        gradient, indices = gradient.unsqueeze(dim), indices.unsqueeze(dim)
    return zeros(*shape, dtype=gradient.dtype).scatter(dim, indices, gradient)


def var_backward(
    gradient: Tensor, self: Tensor, dim: Shape | None, correction: Number, keepdim: bool
) -> Tensor:
    gradient = _restored(gradient, self.shape, dim, keepdim)
    distance = self - self.mean(_axes(dim, self.ndim), True)
    freedom = count_of(self.shape, dim) - correction
    if freedom <= 0:  # as PyTorch: infinite, and NaN where the distance is zero
        return gradient * (distance.abs() * math.inf)
    return gradient * ((2.0 / freedom) * distance)


def std_backward(
    gradient: Tensor, self: Tensor, value: Tensor, dim: Shape | None, correction: Number, keepdim: bool
) -> Tensor:
    """Through the variance; where all elements are equal the gradient is zero."""
    of_variance = (gradient / (value * 2)).masked_fill(value == 0, 0)
    return var_backward(of_variance, self, dim, correction, keepdim)


def logsumexp_backward(gradient: Tensor, self: Tensor, value: Tensor, dim: Shape, keepdim: bool) -> Tensor:
    gradient = _restored(gradient, self.shape, dim, keepdim)
    value = _restored(value, self.shape, dim, keepdim)
    return gradient * (self - value).exp()


def prod_backward(gradient: Tensor, self: Tensor, value: Tensor) -> Tensor:
    if np.all(_array(self)):
        return gradient * _conj(value / self)
    return gradient * _conj(_products_of_others(self.reshape(-1), 0)).reshape(self.shape)


def prod_backward_dim(gradient: Tensor, self: Tensor, value: Tensor, dim: int, keepdim: bool) -> Tensor:
    gradient = _restored(gradient, self.shape, (dim,), keepdim)
    if np.all(_array(self)):
        return gradient * _conj(_restored(value, self.shape, (dim,), keepdim) / self)
    return gradient * _conj(_products_of_others(self, dim))


def _products_of_others(tensor: Tensor, dim: int) -> Tensor:
    """For each element the product of all others along the dimension, without a division that a zero would spoil."""
    if tensor.ndim == 0:
        return from_array(np.ones((), tensor.dtype))
    return _products_before(tensor, dim) * _products_before(tensor.flip(dim), dim).flip(dim)


def _products_before(tensor: Tensor, dim: int) -> Tensor:
    """For each element the product of those before it, in as many steps as the length has bits."""
    length = tensor.shape[dim]
    products = _shifted(tensor, dim, 1)
    step = 1
    while step < length:
        products = products * _shifted(products, dim, step)
        step *= 2
    return products


def _shifted(tensor: Tensor, dim: int, step: int) -> Tensor:
    """Every element moved `step` places up along the dimension, ones in front."""
    length = tensor.shape[dim]
    if step >= length:
        return from_array(np.ones(tensor.shape, tensor.dtype))
    front = np.zeros(tensor.shape, tensor.dtype)
    front[narrow_index(tensor.shape, dim, 0, step)] = 1
    place = narrow_index(tensor.shape, dim, step, length - step)
    return tensor.narrow(dim, 0, length - step).basic_index_backward(tensor.shape, place) + from_array(front)


# ---- parts and places


def cat_backward(gradient: Tensor, shapes: Sequence[Shape], dim: int) -> list[Tensor]:
    """The gradient cut as it was joined; an array of size (0,) took no part."""
    lengths = [0 if tuple(shape) == (0,) else shape[dim] for shape in shapes]
    starts = [0, *accumulate(lengths)]
    return [
        zeros(0, dtype=gradient.dtype) if tuple(shape) == (0,) else gradient.narrow(dim, start, length)
        for shape, start, length in zip(shapes, starts, lengths)
    ]


def filled_parts(
    gradients: Sequence[Tensor | None], sizes: Shape, shape: Shape, dtype: np.dtype, dim: int
) -> list[Tensor]:
    """Gradients of consecutive parts, zeros for those that were not used."""
    axis = _axis(dim, len(shape))
    return [
        zeros(*shape[:axis], size, *shape[axis + 1 :], dtype=dtype) if gradient is None else gradient
        for gradient, size in zip(gradients, sizes)
    ]


def filled_slices(gradients: Sequence[Tensor | None], shape: Shape, dtype: np.dtype, dim: int) -> list[Tensor]:
    """Gradients of all slices along a dimension, zeros for those that were not used."""
    axis = _axis(dim, len(shape))
    size = (*shape[:axis], *shape[axis + 1 :])
    return [zeros(*size, dtype=dtype) if gradient is None else gradient for gradient in gradients]


def gather_backward(gradient: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    return zeros(*shape, dtype=gradient.dtype).scatter_add(dim, index, gradient)


def scatter_backward_src(gradient: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
    """Elements of `src` that the index does not reach have no gradient."""
    reached = gradient.gather(dim, index)
    if reached.shape == tuple(shape):
        return reached
    return reached.basic_index_backward(shape, tuple(slice(size) for size in reached.shape))


def index_select_backward(gradient: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    return zeros(*shape, dtype=gradient.dtype).index_add(dim, index, gradient)


def masked_select_backward(gradient: Tensor, shape: Shape, mask: Tensor) -> Tensor:
    places = _array(mask)
    common = np.broadcast_shapes(tuple(shape), places.shape)
    return zeros(*common, dtype=gradient.dtype).index_put((np.broadcast_to(places, common),), gradient)


# ---- any strides


class StridedGeometry(NamedTuple):
    """A view with strides of its own, and the tensor it was made from; strides and offset are in bytes."""

    from_size: tuple[int, ...]
    from_stride: tuple[int, ...]
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int  # of the view's first element from the tensor's


def strided_geometry(self: Tensor, size: Shape, stride: Shape, storage_offset: int | None) -> StridedGeometry:
    """Checked: every element of the view lies in the tensor's memory."""
    array = _array(self)
    if len(size) != len(stride):
        raise RuntimeError(f"as_strided(): size {list(size)} and stride {list(stride)} differ in length")
    if any(n < 0 for n in size) or any(s < 0 for s in stride) or (storage_offset or 0) < 0:
        raise RuntimeError(
            f"as_strided(): negative sizes, strides and offsets are not supported, got size {list(size)}, "
            f"stride {list(stride)}, storage_offset {storage_offset}"
        )
    low, high = np.lib.array_utils.byte_bounds(_memory_of(array))
    first = array.__array_interface__["data"][0]
    start = first if storage_offset is None else low + storage_offset * array.itemsize
    steps = tuple(step * array.itemsize for step in stride)
    end = start + sum((n - 1) * step for n, step in zip(size, steps)) + array.itemsize
    if math.prod(size) and (start < low or end > high):
        raise RuntimeError(
            f"as_strided(): size {list(size)}, stride {list(stride)} and storage_offset {storage_offset} reach beyond "
            f"the {(high - low) // array.itemsize} elements of the tensor's memory"
        )
    return StridedGeometry(array.shape, array.strides, tuple(size), steps, start - first)


def _memory_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def strided_view_backward(gradient: Tensor, geometry: StridedGeometry) -> Tensor:
    """Gradients added up per place in memory, then read back where the tensor's elements lie.

    Elements of the tensor that share a place share its gradient.
    """
    source = _places(geometry.from_size, geometry.from_stride, 0)
    target = _places(geometry.size, geometry.stride, geometry.offset)
    places, numbers = np.unique(np.concatenate([source, target]), return_inverse=True)
    source, target = numbers[: source.size], numbers[source.size :]
    memory = zeros(places.size, dtype=gradient.dtype).index_add(0, from_array(target), gradient.reshape(-1))
    sharers = np.bincount(source, minlength=places.size)
    if sharers.max(initial=0) > 1:
        memory = memory / from_array(np.maximum(sharers, 1))
    return memory.index_select(0, from_array(source)).reshape(geometry.from_size)


def _places(size: Shape, stride: Shape, offset: int) -> np.ndarray:
    """Byte offset of every element, in order."""
    axes = [np.arange(n, dtype=np.int64) * step for n, step in zip(size, stride)]
    grid = np.ix_(*axes) if axes else ()
    return np.broadcast_to(reduce(np.add, grid, np.int64(offset)), tuple(size)).reshape(-1)


def is_contiguous(self: Tensor) -> bool:
    return self.is_contiguous()


# ---- matrix products with a vector or a batch


def matmul_backward_self(gradient: Tensor, other: Tensor, shape: Shape) -> Tensor:
    """Gradient of the left operand where one of the two is a vector; batches are summed by the engine."""
    if len(shape) == 1 and other.ndim == 1:
        return gradient * _conj(other)
    if len(shape) == 1:
        return _conj(other).matmul(gradient.unsqueeze(-1)).squeeze(-1)
    return gradient.unsqueeze(-1) * _conj(other)


def matmul_backward_other(gradient: Tensor, self: Tensor, shape: Shape) -> Tensor:
    """Gradient of the right operand where one of the two is no matrix."""
    if self.ndim == 1 and len(shape) == 1:
        return gradient * _conj(self)
    if self.ndim == 1:
        return _conj(self).unsqueeze(-1) * gradient.unsqueeze(-2)
    if len(shape) == 1:
        return _rows(self).mT.matmul(gradient.reshape(-1))
    if len(shape) == 2:
        return _rows(self).mT.matmul(gradient.reshape(-1, gradient.shape[-1]))
    return _conj(self).mT.matmul(gradient)


def _rows(tensor: Tensor) -> Tensor:
    """All rows of a batch of matrices as one matrix, conjugated."""
    return _conj(tensor).reshape(-1, tensor.shape[-1])


def outer_backward(gradient: Tensor, weight: Tensor) -> Tensor:
    """Gradient of a linear function's input when its weight is one row."""
    return gradient.unsqueeze(-1) * _conj(weight)


def linear_backward_weight(gradient: Tensor, self: Tensor, weight_ndim: int) -> Tensor:
    if weight_ndim == 1:
        return gradient.reshape(-1).matmul(_rows(self))
    return gradient.reshape(-1, gradient.shape[-1]).mT.matmul(_rows(self))


# ---- losses


def mse_scale(reduction: str, shape: Shape, target_shape: Shape) -> float:
    """Derivative of the loss by the difference of one element, divided by that difference."""
    return 2.0 / math.prod(np.broadcast_shapes(tuple(shape), tuple(target_shape))) if reduction == "mean" else 2.0


def class_dim(ndim: int) -> int:
    """The dimension of the classes in (C), (N, C) and (N, C, d1, ...)."""
    if ndim == 0:
        raise RuntimeError("cross_entropy(): expected an input of size (C), (N, C) or (N, C, d1, ...), but got a number")
    return 0 if ndim == 1 else 1


def has_class_indices(target: Tensor, label_smoothing: float) -> bool:
    """Whether the loss is the plain one, nll_loss of a log_softmax."""
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"cross_entropy(): label_smoothing must be between 0.0 and 1.0, but is {label_smoothing}")
    return label_smoothing == 0 and not target.is_floating_point()


def soft_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None, ignore: int, reduction: str, smoothing: float
) -> Tensor:
    """The loss of log-probabilities against probabilities, or against classes smoothed towards all others."""
    if target.is_floating_point():
        return _loss_of_probabilities(self, target, weight, reduction, smoothing)
    return _loss_of_smoothed_classes(self, target, weight, ignore, reduction, smoothing)


def _loss_of_probabilities(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    if target.shape != self.shape:
        raise RuntimeError(
            f"cross_entropy(): probabilities must have the size of the input, {list(self.shape)}, "
            f"but have size {list(target.shape)}"
        )
    dim = class_dim(self.ndim)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / self.shape[dim]
    losses = -_weighted(self * target, weight, dim).sum(dim)
    return _reduced(losses, reduction, max(losses.numel(), 1))


def _loss_of_smoothed_classes(
    self: Tensor, target: Tensor, weight: Tensor | None, ignore: int, reduction: str, smoothing: float
) -> Tensor:
    dim = class_dim(self.ndim)
    _check_classes(self, target, dim, ignore)
    ignored = target == ignore
    classes = target.masked_fill(ignored, 0).unsqueeze(dim)
    weighted = _weighted(self, weight, dim)
    right = -weighted.gather(dim, classes).squeeze(dim)
    others = -weighted.sum(dim)
    losses = ((1 - smoothing) * right + (smoothing / self.shape[dim]) * others).masked_fill(ignored, 0)
    kept = ignored.logical_not()
    if weight is not None:
        kept = weight.detach()[classes.squeeze(dim)] * kept
    return _reduced(losses, reduction, kept.sum())


def _check_classes(self: Tensor, target: Tensor, dim: int, ignore: int) -> None:
    expected = (*self.shape[:dim], *self.shape[dim + 1 :])
    if target.shape != expected:
        raise ValueError(
            f"cross_entropy(): an input of size {list(self.shape)} wants a target of size {list(expected)}, "
            f"but it has size {list(target.shape)}"
        )
    classes = _array(target)
    wrong = classes[((classes < 0) | (classes >= self.shape[dim])) & (classes != ignore)]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds: there are {self.shape[dim]} classes.")


def _weighted(tensor: Tensor, weight: Tensor | None, dim: int) -> Tensor:
    if weight is None:
        return tensor
    if weight.shape != (tensor.shape[dim],):
        raise RuntimeError(
            f"cross_entropy(): weight should have one element for each of the {tensor.shape[dim]} classes, "
            f"but has size {list(weight.shape)}"
        )
    return tensor * weight.detach().reshape([-1 if axis == dim else 1 for axis in range(tensor.ndim)])


def _reduced(losses: Tensor, reduction: str, divisor: Any) -> Tensor:
    if reduction == "none":
        return losses
    if reduction in ("sum", "mean"):
        return losses.sum() if reduction == "sum" else losses.sum() / divisor
    raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")


# ---- numbers, where a formula's tensor may be one; infinities instead of errors, as for tensors


def conj_number(self: Number) -> Number:
    return self.conjugate()


def real_number(self: Number) -> Number:
    return self.real


def abs_number(self: Number) -> Number:
    return abs(self)


def log_number(self: Number) -> Number:
    if self == 0:
        return -math.inf
    if isinstance(self, complex):
        return cmath.log(self)
    return math.log(self) if self > 0 else math.nan


def exp_number(self: Number) -> Number:
    return _ieee(math.exp, cmath.exp, self, math.inf)


def sqrt_number(self: Number) -> Number:
    return _ieee(math.sqrt, cmath.sqrt, self, math.nan)


def sin_number(self: Number) -> Number:
    return _ieee(math.sin, cmath.sin, self, math.nan)


def cos_number(self: Number) -> Number:
    return _ieee(math.cos, cmath.cos, self, math.nan)


def _ieee(of_real: Any, of_complex: Any, number: Number, otherwise: float) -> Number:
    try:
        return (of_complex if isinstance(number, complex) else of_real)(number)
    except (OverflowError, ValueError):
        return otherwise


def where_number(condition: bool, self: Any, other: Any) -> Any:
    """`where` of a condition that is one for all elements."""
    return self if condition else other
