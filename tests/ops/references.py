"""What each op computes, said once more in NumPy, or in SciPy where NumPy has no word for it.

`REFERENCES` maps base or base.overload to a function that takes the arguments of the schema by name, as arrays and
numbers, and gives an array or a list of arrays. An overload without a line of its own is computed as its base.
"""

import numpy as np
from scipy import special


def value_of(key, values):
    """The reference's results for the arguments of a call, as a list of arrays."""
    reference = REFERENCES.get(key) or REFERENCES[key.split(".")[0]]
    with np.errstate(all="ignore"):
        result = reference(**values)
    return [np.asarray(part) for part in (result if isinstance(result, (list, tuple)) else [result])]


def of_one(function):
    return lambda self: function(self)


def of_two(function):
    return lambda self, other: function(self, other)


def axes(dim):
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


# ---- elementwise


def rounded_quotient(self, other, rounding_mode):
    rounding = {None: np.positive, "floor": np.floor, "trunc": np.trunc}[rounding_mode]
    return rounding(np.divide(self, other))


def sgn(self):
    magnitude = np.abs(self)
    return np.divide(self, magnitude, out=np.zeros_like(self), where=magnitude != 0)


def power(self, exponent):
    """Exponents keep their kind: NumPy squares by a multiplication what has the exponent 2."""
    return np.power(self, exponent)


def clamp(self, min=None, max=None):
    return np.clip(self, min, max)


def softplus(self, beta=1, threshold=20):
    return np.where(self * beta > threshold, self, np.logaddexp(0, self * beta) / beta)


def gelu(self, approximate="none"):
    if approximate == "tanh":
        return 0.5 * self * (1 + np.tanh(np.sqrt(2 / np.pi) * (self + 0.044715 * self**3)))
    return self * special.ndtr(self)


def sigmoid(self):
    return 1 / (1 + np.exp(-self))


# ---- reductions


def variance(self, dim=None, correction=1, keepdim=False):
    return np.var(self, axis=axes(dim), ddof=correction, keepdims=keepdim)


def deviation(**arguments):
    return np.sqrt(variance(**arguments))


def unbiased(function):
    return lambda self, unbiased, dim=None, keepdim=False: function(
        self=self, dim=dim, correction=int(unbiased), keepdim=keepdim
    )


def reduction(function):
    def reference(self, dim=None, keepdim=False, dtype=None):
        more = {} if dtype is None else {"dtype": dtype}
        return function(self, axis=axes(dim) if dim != () else None, keepdims=keepdim, **more)

    return reference


def extremum(find, index):
    def reference(self, dim, keepdim=False):
        return find(self, axis=dim, keepdims=keepdim), index(self, axis=dim, keepdims=keepdim)

    return reference


def softmax_backward(self, output, dim):
    return output * (self - np.sum(self * output, axis=dim, keepdims=True))


def log_softmax_backward(self, output, dim):
    return self - np.exp(output) * np.sum(self, axis=dim, keepdims=True)


def sum_to(self, size):
    """The adjoint of broadcasting, from its definition: every element goes to the place it was read from."""
    places = np.broadcast_to(np.arange(np.prod(size, dtype=int)).reshape(size), self.shape)
    result = np.zeros(int(np.prod(size)), self.dtype)
    np.add.at(result, places.ravel(), self.ravel())
    return result.reshape(size)


# ---- shapes


def flatten(self, start_dim=0, end_dim=-1):
    end = end_dim % self.ndim
    return self.reshape((*self.shape[:start_dim], -1, *self.shape[end + 1 :]))


def expand(self, size):
    front = len(size) - self.ndim
    return np.broadcast_to(self, [self.shape[n - front] if s == -1 else s for n, s in enumerate(size)])


def places_of(geometry):
    """Numbers of the base's elements that a view inside it shows, in the view's order."""
    itemsize = geometry.dtype.itemsize
    steps = [stride // itemsize for stride in geometry.strides]
    places = np.full(geometry.shape, geometry.offset // itemsize)
    for step, along in zip(steps, np.indices(geometry.shape)):
        places += step * along
    return places


def geometry_scatter(self, geometry):
    whole = np.zeros(np.prod(geometry.base_shape), self.dtype)
    np.add.at(whole, places_of(geometry), self)
    return whole.reshape(geometry.base_shape)


def as_strided(self, size, stride, storage_offset=0):
    places = storage_offset + sum(
        np.arange(s).reshape([-1 if axis == n else 1 for n in range(len(size))]) * step
        for axis, (s, step) in enumerate(zip(size, stride))
    )
    return self.ravel()[places]


def split(self, split_size, dim=0):
    length = self.shape[dim]
    if isinstance(split_size, int):
        return np.split(self, range(split_size, length, split_size), axis=dim)
    return np.split(self, np.cumsum(split_size)[:-1], axis=dim)


def chunk(self, chunks, dim=0):
    return split(self, -(-self.shape[dim] // chunks), dim)


def unbind(self, dim=0):
    return list(np.moveaxis(self, dim, 0))


# ---- places


def place_of(index):
    return tuple(index) if isinstance(index, (list, tuple)) else index


def put(self, index, values, accumulate=False):
    result = self.copy()
    if accumulate:
        np.add.at(result, place_of(index), values)
    else:
        result[place_of(index)] = values
    return result


def zeros_put(self, shape, index):
    return put(np.zeros(shape, self.dtype), index, self, True)


def along(self, dim, index):
    """The places that an index tensor of gather or scatter names, as one array per dimension."""
    grid = list(np.indices(index.shape))
    grid[dim] = index
    return tuple(grid)


def corner(src, index):
    return src[tuple(slice(size) for size in index.shape)] if isinstance(src, np.ndarray) else src


def gather(self, dim, index):
    return self[along(self, dim, index)]


def scatter(self, dim, index, src):
    return put(self, along(self, dim, index), corner(src, index))


def scatter_add(self, dim, index, src):
    return put(self, along(self, dim, index), corner(src, index), True)


def slices(self, dim, index):
    return (*(slice(None),) * (dim % self.ndim), index)


def narrow(self, dim, start, length):
    first = start % self.shape[dim]
    return self[slices(self, dim, slice(first, first + length))]


def index_add(self, dim, index, source, alpha=1):
    return put(self, slices(self, dim, index), alpha * source, True)


def masked_select(self, mask):
    self, mask = np.broadcast_arrays(self, mask)
    return self[mask]


# ---- products, losses


def linear(self, weight, bias=0):
    return np.matmul(self, weight.T) + bias


def reduced(losses, mode, weights=None):
    if mode == "none":
        return losses
    return losses.sum() / (1 if mode == "sum" else losses.size if weights is None else weights.sum())


def mse_loss(self, target, reduction="mean"):
    return reduced((self - target) ** 2, reduction)


def weights_of(self, target, weight, ignore_index):
    weights = np.ones(self.shape[1]) if weight is None else weight
    return np.where(target == ignore_index, 0, weights[np.where(target == ignore_index, 0, target)])


def batched(function):
    """A loss of one input without a batch is that of a batch of one, as far as it is not kept apart."""

    def reference(self, target, **arguments):
        if self.ndim > 1:
            return function(self, target, **arguments)
        losses = function(self[None], target[None], **arguments)
        return losses[0] if arguments.get("reduction") == "none" else losses

    return reference


@batched
def nll_loss(self, target, weight=None, ignore_index=-100, reduction="mean"):
    weights = weights_of(self, target, weight, ignore_index)
    rows = np.moveaxis(self, 1, -1)
    chosen = np.take_along_axis(rows, np.where(target == ignore_index, 0, target)[..., None], -1)[..., 0]
    return reduced(-weights * chosen, reduction, weights)


def nll_loss_backward(self, target, weight, shape, ignore_index, reduction):
    weights = weights_of(np.empty(shape), target, weight, ignore_index)
    gradient = np.zeros(shape, self.dtype)
    gradient[np.arange(len(target)), target] = -weights * self / (weights.sum() if reduction == "mean" else 1)
    return gradient


@batched
def cross_entropy(self, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    logs = special.log_softmax(self, axis=1)
    if target.dtype.kind != "f":
        plain = nll_loss(logs, target, weight=weight, ignore_index=ignore_index, reduction=reduction)
        if not label_smoothing:
            return plain
        kept = target != ignore_index
        spread = -np.sum(logs if weight is None else logs * class_weights(weight, self.ndim), axis=1) * kept
        smooth = reduced(spread / self.shape[1], reduction, weights_of(self, target, weight, ignore_index))
        return (1 - label_smoothing) * plain + label_smoothing * smooth
    target = target * (1 - label_smoothing) + label_smoothing / self.shape[1]
    losses = -np.sum(logs * target * (1 if weight is None else class_weights(weight, self.ndim)), axis=1)
    return reduced(losses, reduction)


def class_weights(weight, ndim):
    return weight.reshape([-1 if axis == 1 else 1 for axis in range(ndim)])


REFERENCES = {
    # arithmetic
    "add": of_two(np.add),
    "add.alpha": lambda self, other, alpha: self + alpha * other,
    "sub": of_two(np.subtract),
    "sub.alpha": lambda self, other, alpha: self - alpha * other,
    "mul": of_two(np.multiply),
    "div": of_two(np.divide),
    "div.mode": rounded_quotient,
    "floor_divide": lambda self, other: np.floor(np.divide(self, other)),
    "remainder": lambda self, other: self - other * np.floor(np.divide(self, other)),
    "pow": power,
    "neg": of_one(np.negative),
    "positive": of_one(np.positive),
    "abs": of_one(np.abs),
    "sign": of_one(np.sign),
    "sgn": sgn,
    "square": lambda self: self * self,
    "reciprocal": lambda self: 1 / self,
    "maximum": of_two(np.maximum),
    "minimum": of_two(np.minimum),
    "clamp": clamp,
    "clamp_min": lambda self, min: np.maximum(self, min),
    "clamp_max": lambda self, max: np.minimum(self, max),
    "conj": of_one(np.conj),
    "conj_physical": of_one(np.conj),
    # exponential, trigonometric, activation
    "exp": of_one(np.exp),
    "expm1": of_one(np.expm1),
    "log": of_one(np.log),
    "log1p": of_one(np.log1p),
    "sqrt": of_one(np.sqrt),
    "rsqrt": lambda self: 1 / np.sqrt(self),
    "erf": of_one(special.erf),
    "sin": of_one(np.sin),
    "cos": of_one(np.cos),
    "tan": of_one(np.tan),
    "sinh": of_one(np.sinh),
    "cosh": of_one(np.cosh),
    "tanh": of_one(np.tanh),
    "sigmoid": sigmoid,
    "relu": lambda self: np.maximum(self, 0),
    "softplus": softplus,
    "gelu": gelu,
    "silu": lambda self: self * sigmoid(self),
    # comparison
    "eq": of_two(np.equal),
    "ne": of_two(np.not_equal),
    "lt": of_two(np.less),
    "le": of_two(np.less_equal),
    "gt": of_two(np.greater),
    "ge": of_two(np.greater_equal),
    "logical_and": of_two(np.logical_and),
    "logical_or": of_two(np.logical_or),
    "logical_xor": of_two(np.logical_xor),
    "logical_not": of_one(np.logical_not),
    "bitwise_and": of_two(np.bitwise_and),
    "bitwise_or": of_two(np.bitwise_or),
    "bitwise_xor": of_two(np.bitwise_xor),
    "bitwise_not": of_one(np.invert),
    "isnan": of_one(np.isnan),
    "isinf": of_one(np.isinf),
    "isfinite": of_one(np.isfinite),
    "where": lambda condition, self, other: np.where(condition, self, other),
    # reduce
    "sum": reduction(np.sum),
    "mean": reduction(np.mean),
    "prod": reduction(np.prod),
    "var": variance,
    "var.all": unbiased(variance),
    "var.dim": unbiased(variance),
    "std": deviation,
    "std.all": unbiased(deviation),
    "std.dim": unbiased(deviation),
    "amax": reduction(np.max),
    "amin": reduction(np.min),
    "max": reduction(np.max),
    "max.dim": extremum(np.max, np.argmax),
    "max.other": of_two(np.maximum),
    "min": reduction(np.min),
    "min.dim": extremum(np.min, np.argmin),
    "min.other": of_two(np.minimum),
    "argmax": reduction(np.argmax),
    "argmin": reduction(np.argmin),
    "all": reduction(np.all),
    "any": reduction(np.any),
    "logsumexp": lambda self, dim, keepdim=False: special.logsumexp(self, axis=axes(dim), keepdims=keepdim),
    "softmax": lambda self, dim: special.softmax(self, axis=dim),
    "softmax_backward": softmax_backward,
    "log_softmax": lambda self, dim: special.log_softmax(self, axis=dim),
    "log_softmax_backward": log_softmax_backward,
    "cumsum": lambda self, dim: np.cumsum(self, axis=dim),
    "sum_to": sum_to,
    # shape
    "reshape": lambda self, shape: self.reshape(shape),
    "view": lambda self, size: self.reshape(size),
    "view_as": lambda self, other: self.reshape(other.shape),
    "reshape_as": lambda self, other: self.reshape(other.shape),
    "flatten": flatten,
    "transpose": lambda self, dim0, dim1: np.swapaxes(self, dim0, dim1),
    "permute": lambda self, dims: np.transpose(self, dims),
    "t": of_one(np.transpose),
    "T": of_one(np.transpose),
    "mT": lambda self: np.swapaxes(self, -1, -2),
    "squeeze": of_one(np.squeeze),
    "squeeze.dim": lambda self, dim: np.squeeze(
        self, tuple(d for d in np.atleast_1d(dim).tolist() if self.shape[d] == 1)
    ),
    "unsqueeze": lambda self, dim: np.expand_dims(self, dim),
    "expand": expand,
    "broadcast_to": lambda self, size: np.broadcast_to(self, size),
    "expand_as": lambda self, other: np.broadcast_to(self, other.shape),
    "as_strided": as_strided,
    "geometry_slice": lambda self, geometry: self.ravel()[places_of(geometry)],
    "geometry_scatter": geometry_scatter,
    "cat": lambda tensors, dim=0: np.concatenate(tensors, dim),
    "stack": lambda tensors, dim=0: np.stack(tensors, dim),
    "split": split,
    "chunk": chunk,
    "unbind": unbind,
    "flip": lambda self, dims: np.flip(self, dims),
    # index
    "basic_index": lambda self, index: self[index],
    "basic_index_backward": zeros_put,
    "index": lambda self, index: self[place_of(index)],
    "index_backward": zeros_put,
    "index_put": put,
    "select": lambda self, dim, index: np.take(self, index, axis=dim),
    "narrow": narrow,
    "gather": gather,
    "scatter": scatter,
    "scatter_add": scatter_add,
    "index_select": lambda self, dim, index: np.take(self, index, axis=dim),
    "index_add": index_add,
    "masked_fill": lambda self, mask, value: np.where(mask, value, self),
    "masked_select": masked_select,
    # linalg
    "matmul": of_two(np.matmul),
    "mm": lambda self, mat2: self @ mat2,
    "bmm": lambda self, mat2: np.einsum("bij,bjk->bik", self, mat2),
    "mv": lambda self, vec: self @ vec,
    "dot": lambda self, tensor: np.sum(self * tensor),
    "outer": lambda self, vec2: self[:, None] * vec2,
    "linear": linear,
    "einsum": lambda equation, operands: np.einsum(equation, *operands),
    # copy
    "clone": of_one(np.copy),
    "detach": of_one(np.copy),
    "contiguous": of_one(np.copy),
    "to": lambda self, dtype, copy=False: self.astype(dtype),
    "to.other": lambda self, other: self.astype(other.dtype),
    "to_copy": lambda self, dtype: self.astype(dtype),
    "fill_": lambda self, value: np.full_like(self, value),
    "zero_": of_one(np.zeros_like),
    "copy_": lambda self, src: np.broadcast_to(src, self.shape).astype(self.dtype),
    "real": of_one(np.real),
    "imag": of_one(np.imag),
    # loss
    "mse_loss": mse_loss,
    "nll_loss": nll_loss,
    "nll_loss_backward": nll_loss_backward,
    "cross_entropy": cross_entropy,
}
