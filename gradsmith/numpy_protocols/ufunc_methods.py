"""`reduce`, `accumulate`, `reduceat`, `outer` and `at` of ufuncs.

The reductions that have an op are this op. Any other ufunc of two operands is applied to one element after the other.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradsmith.numpy_protocols import composed, options
from gradsmith.numpy_protocols.composed.operands import as_tensor, op_named, require_constant, stored
from gradsmith.runtime.tensors.factories.python_data import is_tensor

REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all", "logical_or": "any",
    "logaddexp": "logsumexp",
}  # fmt: skip
ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod", "logaddexp": "logcumsumexp"}
_OF_BOOLS = ("logical_and", "logical_or", "logical_xor")
_OF_SEVERAL_DIMS = ("sum", "amax", "amin", "all", "any", "logsumexp")


def call(ufunc: np.ufunc, op: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``ufunc.method(*inputs, **kwargs)``"""
    function: Any = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat, "outer": _outer, "at": _at}[
        method
    ]
    out = kwargs.pop("out", None)
    result = function(ufunc, op, *inputs, **kwargs)
    return result if out is None else stored(f"{ufunc.__name__}.{method}", result, out)


def _reduce(
    ufunc: np.ufunc, op: Any, array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    tensor = _cast(array, dtype, ufunc)
    if where is not True:
        tensor = _neutral_where(ufunc, tensor, where, initial)
    dims = _dims(axis, tensor.ndim)
    result = _reduced(ufunc, op, tensor, dims)
    if keepdims:
        for dim in dims:
            result = result.unsqueeze(dim)
    return result if initial is None else op(result, initial)


def _cast(array: Any, dtype: Any, ufunc: np.ufunc) -> Any:
    tensor = as_tensor(array)
    if dtype is None and ufunc.__name__ in _OF_BOOLS:
        dtype = bool
    return tensor if dtype is None else tensor.to(np.dtype(dtype))


def _dims(axis: Any, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    return sorted(np.lib.array_utils.normalize_axis_tuple(given, ndim)) if ndim else []


def _neutral_where(ufunc: np.ufunc, tensor: Any, where: Any, initial: Any) -> Any:
    neutral = ufunc.identity if ufunc.identity is not None else initial
    if neutral is None:
        raise ValueError(f"np.{ufunc.__name__}.reduce(): it has no identity, so to use where= one has to give initial=")
    return op_named("where")(as_tensor(where), tensor, neutral)


def _reduced(ufunc: np.ufunc, op: Any, tensor: Any, dims: list[int]) -> Any:
    name = REDUCTIONS.get(ufunc.__name__)
    if not dims:
        return tensor.clone()
    if name in _OF_SEVERAL_DIMS:
        return op_named(name)(tensor, dims)
    for dim in reversed(dims):
        tensor = op_named(name)(tensor, dim) if name else _folded(ufunc, op, tensor, dim)
    return tensor


def _folded(ufunc: np.ufunc, op: Any, tensor: Any, dim: int) -> Any:
    parts = op_named("unbind")(tensor, dim)
    if not parts:
        if ufunc.identity is None:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        return op_named("full_like")(tensor.sum(dim), ufunc.identity)
    return functools.reduce(op, parts)


def _accumulate(ufunc: np.ufunc, op: Any, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    tensor = _cast(array, dtype, ufunc)
    name = ACCUMULATIONS.get(ufunc.__name__)
    if name:
        return op_named(name)(tensor, axis)
    if ufunc.__name__ in ("maximum", "minimum"):
        return op_named("cummax" if ufunc.__name__ == "maximum" else "cummin")(tensor, axis)[0]
    parts = list(op_named("unbind")(tensor, axis))
    for n in range(1, len(parts)):
        parts[n] = op(parts[n - 1], parts[n])
    return op_named("stack")(parts, axis) if parts else tensor.clone()


def _reduceat(ufunc: np.ufunc, op: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    tensor = _cast(array, dtype, ufunc).movedim(axis, 0)
    starts = [int(place) for place in np.asarray(indices).ravel()]
    size = tensor.shape[0]
    for place in starts:
        if not 0 <= place < size:
            raise IndexError(f"index {place} out-of-bounds in {ufunc.__name__}.reduceat [0, {size})")
    ends = [*starts[1:], size]
    parts = [
        _reduced(ufunc, op, tensor[start:end], [0]) if start < end else tensor[start]
        for start, end in zip(starts, ends)
    ]
    return op_named("stack")(parts, 0).movedim(0, axis)


def _outer(ufunc: np.ufunc, op: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    first, second = as_tensor(a), as_tensor(b)
    column = first.reshape((*first.shape, *(1,) * second.ndim))
    return options.called(ufunc, op, (column, second), kwargs)


def _at(ufunc: np.ufunc, op: Any, array: Any, indices: Any, *values: Any) -> None:
    """Unbuffered: an element that is named twice is changed twice, for which there is an op for sums alone."""
    name = ufunc.__name__
    if not is_tensor(array):
        require_constant(f"{name}.at", list(values))
        constants = [value.detach().numpy() if is_tensor(value) else value for value in values]
        ufunc.at(array, composed.plain_index(indices), *constants)
        return
    places = indices if isinstance(indices, tuple) else (indices,)
    if name in ("add", "subtract"):
        value = as_tensor(values[0]).to(array.dtype)
        array.index_put_(composed.places_of(array, places), value if name == "add" else -value, True)
        return
    chosen = np.arange(array.numel()).reshape(tuple(array.shape))[composed.plain_index(indices)]
    if np.unique(chosen).size != chosen.size:
        raise TypeError(
            f"np.{name}.at() of tensors with an index that comes twice; np.add.at and np.subtract.at take it"
        )
    array[indices] = op(array[indices], *values)
