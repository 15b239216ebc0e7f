"""What each op should compute, by other means: the `reference` of its entry, evaluated.

A reference is a Python expression over the arguments, `np`, `scipy` and the functions of this module, which are the
definitions that do not fit into one expression. Nothing here uses the package's own ops.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow
    from gradsmith.runtime.geometry import Geometry

    from .samples import Array, Shape, Values

SCIPY_SPECIAL = frozenset({"erf", "erfc", "logsumexp"})  # whose functions serve as references by their own names
NO_SCIPY = "the reference needs SciPy, which is not installed"
NO_REFERENCE = "the entry has no reference"


class NotAvailable(Exception):
    """There is nothing to compare with; the message says why."""


def expected_results(row: OpRow, values: Values) -> list[Array]:
    """The reference's results for the arguments of a call."""
    text = reference_of(row)
    if not text:
        raise NotAvailable(NO_REFERENCE)
    arguments = {a.name: ast.literal_eval(a.default) for a in row.arguments if a.default is not None}
    with np.errstate(all="ignore"):
        result = eval(text, {**names_for(text), **arguments, **values})
    return [np.asarray(part) for part in (result if isinstance(result, (list, tuple)) else [result])]


def reference_of(row: OpRow) -> str:
    """As the entry says; by default NumPy's ufunc, or the function of the op's name in NumPy or SciPy."""
    if row.reference:
        return row.reference
    ufunc = re.fullmatch(r"ufunc\((\w+)\)", row.forward)
    if ufunc:
        return f"np.{ufunc[1]}({', '.join(a.name for a in row.arguments)})"
    return function_of_its_name(row)


# How NumPy's functions take what PyTorch's arguments say; others keep their places.
_NUMPY_ARGUMENTS = {
    "dim": "axis=dim",
    "keepdim": "keepdims=keepdim",
    "correction": "ddof=correction",
    "dtype": "dtype=dtype",
}


def function_of_its_name(row: OpRow) -> str:
    """``np.sum(self, axis=axes(dim), keepdims=keepdim, dtype=dtype)``, or "" when neither library has it."""
    arguments = [_NUMPY_ARGUMENTS.get(a.name, a.name) for a in row.arguments]
    listed = {a.name for a in row.arguments if "[]" in a.type}
    arguments = ["axis=axes(dim)" if text == "axis=dim" and "dim" in listed else text for text in arguments]
    if hasattr(np, row.base):
        return f"np.{row.base}({', '.join(arguments)})"
    return f"scipy.special.{row.base}({', '.join(arguments)})" if row.base in SCIPY_SPECIAL else ""


def names_for(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__builtins__": builtins, "np": np, **FUNCTIONS}
    if "scipy" in text:
        try:
            importlib.import_module("scipy.special")
            names["scipy"] = importlib.import_module("scipy")
        except ImportError:
            raise NotAvailable(NO_SCIPY) from None
    return names


# ---- reductions


def axes(dim: Any) -> Any:
    """NumPy's word for the dimensions of an op."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return None
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def softmax(x: Array, dim: int) -> Array:
    powers = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return np.asarray(powers / np.sum(powers, axis=dim, keepdims=True))


def log_softmax(x: Array, dim: int) -> Array:
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True)))


def sum_to(x: Array, size: Shape) -> Array:
    """The adjoint of broadcasting, from its definition: every element goes to the place it was read from."""
    places = np.broadcast_to(np.arange(math.prod(size)).reshape(size), x.shape)
    result = np.zeros(math.prod(size), x.dtype)
    np.add.at(result, places.ravel(), x.ravel())
    return np.asarray(result.reshape(size))


# ---- places


def put(x: Array, index: Any, values: Any, accumulate: bool = False) -> Array:
    """A copy with the elements at an index replaced, or increased."""
    result: Array = x.copy()
    place = tuple(index) if isinstance(index, (list, tuple)) else index
    if accumulate:
        np.add.at(result, place, values)
    else:
        result[place] = values
    return result


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
    return x[tuple(slice(size) for size in shape)] if isinstance(x, np.ndarray) else x


def strided_places(size: Shape, stride: Shape, offset: int) -> Array:
    """Numbers of the elements of a flat array that a view with these strides shows."""
    places = np.full(size, offset)
    for step, along in zip(stride, np.indices(size)):
        places += step * along
    return places


def places_of(geometry: Geometry) -> Array:
    """Numbers of the base's elements that a view inside it shows, in the view's order."""
    itemsize = geometry.dtype.itemsize
    return strided_places(geometry.shape, tuple(s // itemsize for s in geometry.strides), geometry.offset // itemsize)


# ---- losses


def reduced(losses: Array, mode: str, weights: Array | None = None) -> Any:
    if mode == "none":
        return losses
    return losses.sum() / (1 if mode == "sum" else losses.size if weights is None else weights.sum())


def class_weights(shape: Shape, target: Array, weight: Array | None, ignore_index: int) -> Array:
    """One weight for each target: that of its class, zero where it is ignored."""
    weights = np.ones(shape[1]) if weight is None else weight
    return np.where(target == ignore_index, 0, weights[np.where(target == ignore_index, 0, target)])


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
    grad: Array, target: Array, weight: Array | None, shape: Shape, ignore_index: int, reduction: str
) -> Array:
    weights = class_weights(shape, target, weight, ignore_index)
    gradient = np.zeros(shape, grad.dtype)
    gradient[np.arange(len(target)), target] = -weights * grad / (weights.sum() if reduction == "mean" else 1)
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
    spread = -np.sum(weighted, axis=1) * (target != ignore_index) / x.shape[1]
    smooth = reduced(spread, reduction, class_weights(x.shape, target, weight, ignore_index))
    return (1 - label_smoothing) * plain + label_smoothing * smooth


FUNCTIONS = {
    function.__name__: function
    for function in (
        axes, class_weights, corner, cross_entropy, grid, log_softmax, nll_loss, nll_loss_backward, places_of, put,
        reduced, slices, softmax, strided_places, sum_to,
    )
}  # fmt: skip
