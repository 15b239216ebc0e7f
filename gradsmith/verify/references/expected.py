"""Expected values of each op, computed independently: the `reference` of its entry, evaluated.

A reference is a Python expression over the arguments, `np`, `scipy` and the functions of this module, which are the
definitions that do not fit into one expression. Nothing here uses the package's own ops.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.codegen.arrays.python_names import NUMPY_NAMES
from gradsmith.codegen.spec.vocabulary import ARRAY_BUILTINS, REFERENCE_NAMES
from gradsmith.generated.op_table import OPS, OpRow

from ..calls import Results, outputs_of
from ..seeds import seeded_for_numpy
from . import (
    aligned,
    arranged,
    drawn,
    factored,
    grouped,
    integrated,
    layered,
    ordered,
    pooled,
    recurrent,
    sampled,
    transformers,
)
from .usual import ReferenceOf, called_names, function_name, usual_reference

if TYPE_CHECKING:
    from gradsmith.runtime.arrays.functions.view_geometry import Geometry

    from ..samples import Array, Shape, Values

_NUMBERS: Mapping[str, tuple[type, ...]] = {
    "int": (int,), "bool": (bool,), "str": (str,), "float": (int, float), "Scalar": (int, float, complex),
}  # fmt: skip
_LIST = re.compile(rf"({'|'.join(_NUMBERS)})\[(\d*)\]\??")


NO_SCIPY = "the reference needs SciPy, which is not installed"
NO_REFERENCE = "the entry has no reference"


def imported(name: str, *more: Any) -> Any:
    """What NumPy imports at the first use of some functions, by the builtins of whoever calls them.

    Without it `np.subtract.outer` ends the interpreter. No text of a table can name it.
    """
    if name.partition(".")[0] not in ("numpy", "scipy"):
        raise ImportError(f"a reference imports {name}")
    return builtins.__import__(name, *more)


# Of Python's own functions, those that tables may call.
PYTHON = {name: vars(builtins)[name] for name in (ARRAY_BUILTINS | REFERENCE_NAMES) & vars(builtins).keys()}
BUILTINS = {**PYTHON, "__import__": imported}

ROWS = {row.base: tuple(other for other in OPS if other.base == row.base) for row in OPS}


class NotAvailable(Exception):
    """There is nothing to compare with; the message says why."""


def expected_results(row: OpRow, values: Values) -> Results:
    """The reference's results for the arguments of a call."""
    with np.errstate(all="ignore"):
        result = evaluated(row, values)
    return outputs_of(result, row.result_types).made(np.asarray)


def surrogate_results(row: OpRow, values: Values) -> Results:
    """The function whose derivatives the gradients are, where the entry says that it is not the value."""
    with np.errstate(all="ignore"):
        result = value_of(row.surrogate, row, values)
    return outputs_of(result, row.result_types).made(np.asarray)


def evaluated(row: OpRow, values: Mapping[str, Any]) -> Any:
    text = reference_of(row)
    if not text:
        raise NotAvailable(NO_REFERENCE)
    return value_of(text, row, values)


def value_of(text: str, row: OpRow, values: Mapping[str, Any]) -> Any:
    arguments = {a.name: ast.literal_eval(a.default) for a in row.arguments if a.default is not None}
    arguments = {**as_forwards_see(row, {**arguments, **seeded_for_numpy(values)})}
    return eval(text, {**names_for(text, function_name(row)), **arguments})


def as_forwards_see(row: OpRow, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """One number for a list of numbers is a list of one, or of as many as the list has to have."""
    types = {a.name: a.type for a in row.arguments}
    return {name: repeated(value, types[name]) if name in types else value for name, value in values.items()}


def repeated(value: Any, type_: str) -> Any:
    """The list that the op makes of ``2`` for an ``int[2]``."""
    found = _LIST.fullmatch(type_)
    if found is None or not isinstance(value, _NUMBERS[found[1]]):
        return value
    return (value,) * int(found[2] or 1)


def reference_of(row: OpRow) -> str:
    """As the entry says; by default what follows from its names and its formula."""
    return row.reference or usual_reference(row, FUNCTIONS)


def names_for(text: str, own: str) -> dict[str, Any]:
    """Names in scope of a reference; `own` is the definition of the op itself."""
    definitions = {name: function for name, function in FUNCTIONS.items() if name == own}
    called = {name: definitions.get(name) or function_called(name) for name in called_names(text)}
    names: dict[str, Any] = {"__builtins__": BUILTINS, "np": np, **called}
    if "scipy" in text:
        try:
            importlib.import_module("scipy.special")
            names["scipy"] = importlib.import_module("scipy")
        except ImportError:
            raise NotAvailable(NO_SCIPY) from None
    return names


def function_called(name: str) -> Any:
    """An op by its own reference, a definition, Python's function, NumPy's ufunc."""
    if name in ROWS:
        return ReferenceOf(ROWS[name], evaluated)
    found = FUNCTIONS.get(name) or PYTHON.get(name) or (getattr(np, name, None) if name in NUMPY_NAMES else None)
    if found is None:
        raise NotAvailable(NO_REFERENCE)
    return found


# ---- complex numbers


def complex_of_parts(real: Array, imag: Array) -> Array:
    """Without the product of 1j and an infinite part, which is NaN."""
    result = np.zeros(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real, imag, np.complex64))
    result.real, result.imag = real, imag
    return result


# ---- reductions


def axes(dim: Any) -> Any:
    """NumPy's word for the dimensions of an op."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return None
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def softmax(x: Array, dim: int, dtype: Any = None) -> Array:
    x = x if dtype is None else x.astype(dtype)
    powers = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return np.asarray(powers / np.sum(powers, axis=dim, keepdims=True))


def log_softmax(x: Array, dim: int, dtype: Any = None) -> Array:
    x = x if dtype is None else x.astype(dtype)
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True)))


def sum_to(x: Array, size: Shape) -> Array:
    """The adjoint of broadcasting, from its definition: every element goes to the place it was read from."""
    places = np.broadcast_to(np.arange(math.prod(size)).reshape(size), x.shape)
    result = np.zeros(math.prod(size), x.dtype)
    np.add.at(result, places.ravel(), x.ravel())
    return np.asarray(result.reshape(size))


# ---- elements


def sgn(x: Array) -> Array:
    if np.isrealobj(x):
        return np.where(np.isnan(x), 0, np.sign(x))
    return np.asarray(np.divide(x, np.abs(x), out=np.zeros_like(x), where=x != 0))


def div_mode(x: Array, other: Any, rounding_mode: str | None) -> Array:
    round_ = {None: np.positive, "floor": np.floor, "trunc": np.trunc}[rounding_mode]
    return np.asarray(round_(x / other))


def remainder(x: Array, other: Any) -> Array:
    """From the remainder of the division that is rounded towards zero."""
    rest = np.fmod(x, other)
    return np.asarray(rest + other * ((rest != 0) & ((rest < 0) != (np.asarray(other) < 0))))


def gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(x * special().ndtr(x))


def special() -> Any:
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        raise NotAvailable(NO_SCIPY) from None


def order_derivative(function: Any, n: int, v: Any, x: Any) -> Array:
    """Derivative with respect to the order `v`, of the polynomial through samples at Chebyshev points around it."""
    points = np.polynomial.chebyshev.chebpts1(24)
    v, x = np.broadcast_arrays(np.asarray(v, np.float64), np.asarray(x, np.float64))
    samples = np.stack([function(v + point, x).ravel() for point in points])
    fitted = np.polynomial.chebyshev.chebfit(points, samples, len(points) - 1)
    slopes = np.polynomial.chebyshev.chebval(0.0, np.polynomial.chebyshev.chebder(fitted, n))
    return np.asarray(np.asarray(slopes).reshape(v.shape))


def polynomial_derivative(kind: str, order: int, x: Any, n: Any) -> Array:
    """By the coefficients of the polynomial."""
    classes = {"legendre": "Legendre", "hermite": "Hermite", "laguerre": "Laguerre", "chebyshev": "Chebyshev"}
    basis = getattr(np.polynomial, classes[kind.partition("_")[0]])
    points = [(float(at), int(degree)) for at, degree in np.broadcast(x, n)]
    derivatives = {degree: basis.basis(degree).deriv(order) for degree in {degree for _, degree in points}}
    values = [derivatives[degree](at) for at, degree in points]
    dtype = np.result_type(x.dtype if isinstance(x, np.ndarray) else np.float64, np.float16)
    return np.asarray(values, dtype).reshape(np.broadcast(x, n).shape)


def sign(x: Array) -> Array:
    return np.where(np.isnan(x), 0, np.sign(x))


def floor_divide(x: Array, other: Any) -> Array:
    return np.asarray(np.floor(np.divide(x, other)))


# ---- along a dimension


def max_dim(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return np.max(x, axis=dim, keepdims=keepdim), np.argmax(x, axis=dim, keepdims=keepdim)


def min_dim(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return np.min(x, axis=dim, keepdims=keepdim), np.argmin(x, axis=dim, keepdims=keepdim)


def softmax_backward(grad: Array, output: Array, dim: int) -> Array:
    return np.asarray(output * (grad - np.sum(grad * output, axis=dim, keepdims=True)))


def log_softmax_backward(grad: Array, output: Array, dim: int) -> Array:
    return np.asarray(grad - np.exp(output) * np.sum(grad, axis=dim, keepdims=True))


def restore_dims(x: Array, ndim: int, dim: Any, keepdim: bool) -> Array:
    restored = x if keepdim else np.expand_dims(x, tuple(range(ndim)) if axes(dim) is None else axes(dim))
    if restored.ndim != ndim:
        raise ValueError(f"{x.ndim} dimensions are not those of a reduction from {ndim} along {dim}")
    return restored


# ---- shapes


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    return np.reshape(x, (*x.shape[:start_dim], -1, *x.shape[end_dim % x.ndim + 1 :]))


def view(x: Array, size: Shape) -> Array:
    return np.reshape(x, size)


def transpose(x: Array, dim0: int, dim1: int) -> Array:
    return np.swapaxes(x, dim0, dim1)


def t(x: Array) -> Array:
    return np.transpose(x)


def T(x: Array) -> Array:
    return np.transpose(x)


def mT(x: Array) -> Array:
    return np.swapaxes(x, -1, -2) if x.ndim else x


def unsqueeze(x: Array, dim: int) -> Array:
    return np.expand_dims(x, dim)


def squeeze_dim(x: Array, dim: Any) -> Array:
    return np.squeeze(x, tuple(d for d in np.atleast_1d(dim).tolist() if x.shape[d] == 1))


def expand(x: Array, size: Shape) -> Array:
    sizes = np.atleast_1d(size).tolist()
    return np.broadcast_to(x, [n if n >= 0 else x.shape[i - len(sizes)] for i, n in enumerate(sizes)])


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Array:
    sizes, steps = np.atleast_1d(size).tolist(), np.atleast_1d(stride).tolist()
    return np.asarray(np.ravel(x)[strided_places(sizes, steps, storage_offset or 0)])


def strided_replaced(
    x: Array, src: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    sizes, steps = ([n] if isinstance(n, int) else n for n in (size, stride))
    found = np.ravel(x).copy()
    for place, value in zip(np.ravel(strided_places(sizes, steps, storage_offset or 0)), np.ravel(src), strict=True):
        found[place] = value
    return np.asarray(found.reshape(x.shape))


def strided_view(x: Array, geometry: Any) -> Array:
    return as_strided(x, geometry.size, [s // x.itemsize for s in geometry.stride], geometry.offset // x.itemsize)


def split(x: Array, split_size: int, dim: int = 0) -> list[Array]:
    return np.split(x, range(split_size, x.shape[dim], split_size), axis=dim)


def split_sizes(x: Array, split_size: Shape, dim: int = 0) -> list[Array]:
    return np.split(x, np.cumsum(split_size)[:-1], axis=dim)


def chunk(x: Array, chunks: int, dim: int = 0) -> list[Array]:
    return split(x, -(-x.shape[dim] // chunks), dim)


def unbind(x: Array, dim: int = 0) -> list[Array]:
    return list(np.moveaxis(x, dim, 0))


# ---- places


def put(x: Array, index: Any, values: Any, accumulate: bool = False) -> Array:
    """A copy with the elements at an index replaced, or increased."""
    result: Array = x.copy()
    place = tuple(index) if isinstance(index, (list, tuple)) else index
    if accumulate:
        np.add.at(result, place, np.broadcast_to(values, result[place].shape))
    else:
        result[place] = values
    return result


def index_put(x: Array, indices: Any, values: Any, accumulate: bool = False) -> Array:
    return put(x, indices, values, accumulate)


def gather(x: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    return np.asarray(x[grid(index, dim)])


def scatter(x: Array, dim: int, index: Array, src: Any) -> Array:
    return put(x, grid(index, dim), corner(src, index.shape))


def scatter_src_reduce(x: Array, dim: int, index: Array, src: Any, reduce: str) -> Array:
    result: Array = x.copy()
    with_each = {"add": np.add, "multiply": np.multiply}[reduce]
    with_each.at(result, grid(index, dim), corner(src, index.shape))
    return result


def scatter_add(x: Array, dim: int, index: Array, src: Any) -> Array:
    return put(x, grid(index, dim), corner(src, index.shape), True)


def index_select(x: Array, dim: int, index: Array) -> Array:
    return np.take(x, np.atleast_1d(index), axis=dim)


def index_add(x: Array, dim: int, index: Array, source: Array, alpha: complex = 1) -> Array:
    return put(x, slices(x, dim, index), alpha * source, True)


def masked_fill(x: Array, mask: Array, value: Any) -> Array:
    return np.where(mask, value, x)


def select(x: Array, dim: int, index: int) -> Array:
    return np.asarray(np.take(x, index, axis=dim))


def slices(x: Array, dim: int, index: Any) -> tuple[Any, ...]:
    """An index along one dimension."""
    return (*(slice(None),) * (dim % x.ndim), index)


def grid(index: Array, dim: int) -> tuple[Array, ...]:
    """The places that an index tensor of gather or scatter names, as one array per dimension."""
    places: list[Array] = list(np.indices(index.shape))
    places[dim] = index
    return tuple(places)


def corner(x: Any, shape: Shape) -> Any:
    """As much of an array as the shape covers; numbers as they are."""
    return x[tuple(slice(size) for size in shape)] if np.ndim(x) else x


def strided_places(size: Sequence[int], stride: Sequence[int], offset: int) -> Array:
    """Numbers of the elements of a flat array that a view with these strides shows."""
    places = np.full(size, offset)
    for step, along in zip(stride, np.indices(size)):
        places += step * along
    return places


def places_of(geometry: Geometry) -> Array:
    """Numbers of the base's elements that a view inside it shows, in the view's order."""
    itemsize = geometry.dtype.itemsize
    return strided_places(geometry.shape, tuple(s // itemsize for s in geometry.strides), geometry.offset // itemsize)


def narrow(x: Array, dim: int, start: int, length: int) -> Array:
    first = start % x.shape[dim]
    return np.take(x, range(first, first + length), axis=dim)


def masked_select(x: Array, mask: Array) -> Array:
    values, chosen = np.broadcast_arrays(x, mask)
    return np.asarray(values[chosen])


def basic_index_backward(x: Array, shape: Shape, index: Any) -> Array:
    return put(np.zeros(shape, x.dtype), index, x, True)


def index_backward(x: Array, shape: Shape, index: Any) -> Array:
    return put(np.zeros(shape, x.dtype), index, x, True)


def geometry_slice(x: Array, geometry: Geometry) -> Array:
    return np.asarray(np.ravel(x)[places_of(geometry)])


def geometry_scatter(x: Array, geometry: Geometry) -> Array:
    flat = np.zeros(math.prod(geometry.base_shape), x.dtype)
    return put(flat, places_of(geometry), x, True).reshape(geometry.base_shape)


# ---- copies


def contiguous(x: Array) -> Array:
    return np.copy(x)


def fill_(x: Array, value: Any) -> Array:
    return np.full_like(x, value)


def zero_(x: Array) -> Array:
    return np.zeros_like(x)


# ---- products


def bmm(x: Array, mat2: Array) -> Array:
    return np.asarray(np.einsum("bij,bjk->bik", x, mat2))


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    return np.asarray(np.matmul(x, weight.T) + (0 if bias is None else bias))


# ---- losses


def reduced(losses: Array, mode: str, weights: Array | None = None) -> Any:
    if mode == "none":
        return losses
    return losses.sum() / (1 if mode == "sum" else losses.size if weights is None else weights.sum())


def class_weights(shape: Shape, target: Array, weight: Array | None, ignore_index: int) -> Array:
    """One weight for each target: that of its class, zero where it is ignored."""
    weights = np.ones(shape[1]) if weight is None else weight
    return np.where(target == ignore_index, 0, weights[np.where(target == ignore_index, 0, target)])


def mse_loss(x: Array, target: Array, reduction: str = "mean") -> Any:
    return reduced((x - target) ** 2, reduction)


def nll_loss(
    x: Array, target: Array, weight: Array | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    if x.ndim == 1:  # without a batch: that of a batch of one, as far as it is not kept apart
        return unbatched(nll_loss(x[None], target[None], weight, ignore_index, reduction), reduction)
    weights = class_weights(x.shape, target, weight, ignore_index)
    rows = np.moveaxis(x, 1, -1)
    chosen = np.take_along_axis(rows, np.where(target == ignore_index, 0, target)[..., None], -1)[..., 0]
    return reduced(-weights * chosen, reduction, weights)


def unbatched(losses: Any, reduction: str) -> Any:
    return losses[0] if reduction == "none" else losses


def nll_loss_backward(
    grad: Array, log_probs: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Array:
    shape = log_probs.shape
    weights = class_weights(shape, target, weight, ignore_index)
    gradient = np.zeros(shape, grad.dtype)
    given = np.where(target == ignore_index, 0, grad)
    gradient[np.arange(len(target)), target] = -weights * given / (weights.sum() if reduction == "mean" else 1)
    return gradient


def cross_entropy(
    x: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str, label_smoothing: float
) -> Any:
    if x.ndim == 1:
        batch = cross_entropy(x[None], target[None], weight, ignore_index, reduction, label_smoothing)
        return unbatched(batch, reduction)
    logs = log_softmax(x, 1)
    along_classes = [-1 if axis == 1 else 1 for axis in range(x.ndim)]
    weighted = logs if weight is None else logs * weight.reshape(along_classes)
    if target.dtype.kind == "f":
        target = target * (1 - label_smoothing) + label_smoothing / x.shape[1]
        return reduced(-np.sum(weighted * target, axis=1), reduction)
    plain = nll_loss(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return plain
    spread = -np.sum(weighted, axis=1) * (target != ignore_index) / x.shape[1]
    smooth = reduced(spread, reduction, class_weights(x.shape, target, weight, ignore_index))
    return (1 - label_smoothing) * plain + label_smoothing * smooth


FUNCTIONS = {
    function.__name__: function
    for function in (
        T, as_strided, axes, basic_index_backward, bmm, chunk, class_weights, complex_of_parts, contiguous,
        corner, cross_entropy, div_mode, expand, fill_, flatten, floor_divide, gather, gelu, geometry_scatter,
        geometry_slice, grid, index_add, index_backward, index_put, index_select, linear, log_softmax,
        log_softmax_backward, mT, masked_fill, masked_select, max_dim, min_dim, mse_loss, narrow, nll_loss,
        nll_loss_backward, order_derivative, places_of,
        polynomial_derivative, put, reduced, remainder, restore_dims, scatter, scatter_add,
        scatter_src_reduce, select, sgn, sign, slices, softmax, softmax_backward, split, split_sizes, squeeze_dim,
        strided_places, strided_replaced, strided_view, sum_to, t, transpose, unbind, unsqueeze, view, zero_,
        *aligned.DEFINITIONS, *arranged.DEFINITIONS, *drawn.DEFINITIONS, *factored.DEFINITIONS, *grouped.DEFINITIONS,
        *integrated.DEFINITIONS, *layered.DEFINITIONS, *ordered.DEFINITIONS, *pooled.DEFINITIONS,
        *recurrent.DEFINITIONS, *sampled.DEFINITIONS, *transformers.DEFINITIONS,
    )
}  # fmt: skip
