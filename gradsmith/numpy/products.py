"""NumPy's products of vectors and matrices."""

from __future__ import annotations

from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    array_of,
    as_tensor,
    axes_of,
    axis_of,
    common,
    delivered,
    exact,
    is_tensor,
    np,
    of_dtype,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.subscripts import einsum as summed


def _pair(a: Any, b: Any) -> list[Any]:
    return common([as_tensor(a), as_tensor(b)])


def _plain(name: str, tensors: list[Any], *args: Any, **options: Any) -> Any:
    """NumPy's own for integers, of which there is no derivative; None for others."""
    if exact(tensors[0]) and not without_data(tensors):
        return wrapped(getattr(np, name)(*map(array_of, tensors), *args, **options))
    return None


def dot(a: Any, b: Any, out: Any = None) -> Any:
    pair = _pair(a, b)
    found = _plain("dot", pair)
    if found is None:
        x, y = pair
        if x.ndim == 0 or y.ndim == 0:
            found = x * y
        elif y.ndim <= 2 or x.ndim == y.ndim == 1:
            _require_equal("dot", x, x.ndim - 1, y, max(y.ndim - 2, 0))
            found = x @ y
        else:
            found = tensordot(x, y, ([-1], [-2]))
    return delivered(found, out)


def _require_equal(op: str, x: Any, one: int, y: Any, other: int) -> None:
    if x.shape[one] != y.shape[other]:
        raise ValueError(
            f"{op}: shapes {tuple(x.shape)} and {tuple(y.shape)} not aligned: "
            f"{x.shape[one]} (dim {one}) != {y.shape[other]} (dim {other})"
        )


def vdot(a: Any, b: Any, /) -> Any:
    x, y = (one.reshape(-1) for one in _pair(a, b))
    _require_equal("vdot", x, 0, y, 0)
    return dot(x.conj() if x.dtype.kind == "c" else x, y)


def inner(a: Any, b: Any, /) -> Any:
    x, y = _pair(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    if y.ndim == 1:
        return dot(x, y)
    return tensordot(x, y, ([-1], [-1]))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    x, y = (one.reshape(-1) for one in _pair(a, b))
    found = _plain("outer", [x, y])
    return delivered(x.unsqueeze(1) * y.unsqueeze(0) if found is None else found, out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    pair = _pair(a, b)
    x, y = pair
    left, right = _summed_axes(x, y, unwrapped(axes))
    if len(left) != len(right) or any(x.shape[i] != y.shape[j] for i, j in zip(left, right)):
        raise ValueError("shape-mismatch for sum")
    found = _plain("tensordot", pair, (left, right))
    return generated.tensordot(x, y, (list(left), list(right))) if found is None else found


def _summed_axes(x: Any, y: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, (int, np.integer)):
        count = int(axes)
        if count > min(x.ndim, y.ndim):
            raise ValueError("tuple index out of range: more axes to sum than there are")
        return tuple(range(x.ndim - count, x.ndim)), tuple(range(count))
    left, right = (tuple(np.atleast_1d(one)) for one in axes)
    return axes_of(tuple(map(int, left)), x.ndim), axes_of(tuple(map(int, right)), y.ndim)


def kron(a: Any, b: Any) -> Any:
    pair = _pair(a, b)
    found = _plain("kron", pair)
    return generated.kron(*pair) if found is None else found


def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    dtype = kwargs.pop("dtype", None)
    kwargs.pop("order", None), kwargs.pop("casting", None)
    if kwargs:
        raise TypeError(f"einsum() got an unexpected keyword argument {min(kwargs)!r}")
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        subscripts, values = operands[0], operands[1:]
        tensors = _as_given(common([as_tensor(one) for one in values]), dtype)
        return delivered(_einsum(subscripts.replace(" ", ""), tensors), out)
    pairs, rest = operands[: len(operands) // 2 * 2], operands[len(operands) // 2 * 2 :]
    tensors = _as_given(common([as_tensor(one) for one in pairs[::2]]), dtype)
    merged = [part for pair in zip(tensors, map(list, pairs[1::2])) for part in pair]
    return delivered(summed(*merged, *map(list, rest)), out)


def _as_given(tensors: list[Any], dtype: Any) -> list[Any]:
    return tensors if dtype is None else [of_dtype(one, dtype) for one in tensors]


def _einsum(subscripts: str, tensors: list[Any]) -> Any:
    if exact(tensors[0]) and not without_data(tensors):
        return wrapped(np.einsum(subscripts, *map(array_of, tensors)))
    return generated.einsum(subscripts, *tensors)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    arrays = [array_of(one) if is_tensor(one) else one for one in operands]
    return np.einsum_path(*arrays, optimize=optimize)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _pair(a, b)
    x, y = x.movedim(axis_of(axisa, x.ndim), -1), y.movedim(axis_of(axisb, y.ndim), -1)
    if {x.shape[-1], y.shape[-1]} - {2, 3}:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, or 2-dimensional ones")
    if x.shape[-1] == y.shape[-1] == 2:
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    x, y = (_in_space(one) for one in (x, y))
    found = _components(x, y)
    return found.movedim(-1, axis_of(axisc, found.ndim))


def _in_space(x: Any) -> Any:
    return x if x.shape[-1] == 3 else generated.cat([x, x.new_zeros((*x.shape[:-1], 1))], -1)


def _components(x: Any, y: Any) -> Any:
    pairs = ((1, 2), (2, 0), (0, 1))
    return generated.stack([x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in pairs], -1)
