"""NumPy's functions of shapes, and those that join arrays."""

from __future__ import annotations

from math import prod
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
    reduced_axes,
    unwrapped,
    wrapped,
)
from gradsmith.numpy.moves import moved


def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> Any:
    x = as_tensor(a)
    sizes = _sizes(shape)
    if order == "F":
        return moved(lambda places: np.reshape(places, sizes, order="F"), x)
    if order not in ("C", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', not {order!r}")
    known = prod(n for n in sizes if n >= 0)
    if sizes.count(-1) > 1 or (-1 not in sizes and known != x.numel()) or (-1 in sizes and x.numel() % max(known, 1)):
        raise ValueError(f"cannot reshape array of size {x.numel()} into shape {sizes}")
    return x.clone().reshape(sizes) if copy else x.reshape(sizes)


def _sizes(shape: Any) -> tuple[int, ...]:
    if type(shape) is int:
        return (shape,)
    if type(shape) is not tuple or any(type(n) is not int for n in shape):
        shape = np.atleast_1d(unwrapped(shape))
    return tuple(map(int, shape))


def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, -1, order="C" if order in ("K", "A") else order)


def shape(a: Any) -> tuple[int, ...]:
    return tuple(a.shape) if is_tensor(a) else tuple(as_tensor(a).shape)


def ndim(a: Any) -> int:
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    sizes = shape(a)
    return prod(sizes[one] for one in axes_of(axis, len(sizes)))


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    x = as_tensor(a)
    return x.clone() if x is a else x


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    if not is_tensor(x) and not isinstance(x, np.ndarray):
        raise TypeError(f"Input should be a NumPy array. It is a {type(x)} instead.")
    found = as_tensor(x, dtype)
    return found.clone() if copy and found is x else found


def transpose(a: Any, axes: Any = None) -> Any:
    x = as_tensor(a)
    if axes is None:
        return x.permute(tuple(range(x.ndim))[::-1])
    if len(axes) != x.ndim:
        raise ValueError("axes don't match array")
    return x.permute(axes_of(tuple(axes), x.ndim))


def permute_dims(a: Any, axes: Any = None) -> Any:
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Any:
    tensor = as_tensor(x)
    if tensor.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {tensor.ndim}")
    return tensor.transpose(-1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    x = as_tensor(a)
    return x.transpose(axis_of(axis1, x.ndim), axis_of(axis2, x.ndim))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    x = as_tensor(a)
    return x.movedim(axes_of(source, x.ndim), axes_of(destination, x.ndim))


def expand_dims(a: Any, axis: Any) -> Any:
    x = as_tensor(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for one in sorted(axes_of(tuple(axes), x.ndim + len(axes))):
        x = x.unsqueeze(one)
    return x


def squeeze(a: Any, axis: Any = None) -> Any:
    x = as_tensor(a)
    if axis is None:
        return x.squeeze()
    axes = reduced_axes(axis, x.ndim)
    if any(x.shape[one] != 1 for one in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return x.squeeze(axes) if axes else x


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    x = as_tensor(array)
    sizes = (shape,) if isinstance(shape, int) else tuple(int(n) for n in unwrapped(shape))
    np.broadcast_to(np.broadcast_to(np.False_, tuple(x.shape)), sizes)  # NumPy's errors
    return x.expand(sizes)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    tensors = [as_tensor(one) for one in args]
    sizes = np.broadcast_shapes(*[tuple(one.shape) for one in tensors])
    return tuple(one.expand(sizes) for one in tensors)


def atleast_1d(*arys: Any) -> Any:
    return _each(arys, lambda x: x.reshape(1) if x.ndim == 0 else x)


def atleast_2d(*arys: Any) -> Any:
    return _each(arys, lambda x: x.reshape(1, -1) if x.ndim < 2 else x)


def atleast_3d(*arys: Any) -> Any:
    return _each(arys, lambda x: x.reshape(1, -1, 1) if x.ndim < 2 else x.unsqueeze(-1) if x.ndim == 2 else x)


def _each(arrays: Any, function: Any) -> Any:
    found = tuple(function(as_tensor(one)) for one in arrays)
    return found[0] if len(found) == 1 else found


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    tensors = [as_tensor(one).reshape(-1) for one in xi]
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    order = list(range(len(tensors)))
    if indexing == "xy" and len(tensors) > 1:
        order[:2] = [1, 0]
    grids = [one.reshape([-1 if place == at else 1 for place in range(len(order))]) for at, one in zip(order, tensors)]
    if not sparse:
        grids = list(broadcast_arrays(*grids))
    return tuple(grid.clone() for grid in grids) if copy else tuple(grids)


# ---- joining


def _several(arrays: Any, dtype: Any = None, casting: Any = "same_kind") -> list[Any]:
    if not is_tensor(arrays) and not isinstance(arrays, (list, tuple, np.ndarray)):
        raise TypeError("arrays to join must be passed as a sequence type such as list or tuple")
    tensors = list(arrays.unbind(0)) if is_tensor(arrays) else [as_tensor(one) for one in arrays]
    if not tensors:
        raise ValueError("need at least one array to join")
    if dtype is None:
        return common(tensors)
    if not all(np.can_cast(one.dtype, dtype, casting) for one in tensors):
        raise TypeError(f"Cannot cast the arrays to {np.dtype(dtype)!r} according to the rule {casting!r}")
    return [of_dtype(one, dtype) for one in tensors]


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    tensors = _several(arrays, dtype, casting)
    if axis is None:
        tensors, axis = [one.reshape(-1) for one in tensors], 0
    if not all(one.ndim == tensors[0].ndim for one in tensors):
        raise ValueError("all the input array dimensions must match: " + ", ".join(str(one.ndim) for one in tensors))
    if tensors[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, tensors[0].ndim)
    rests = {tuple(n for at, n in enumerate(one.shape) if at != axis) for one in tensors}
    if len(rests) > 1:
        raise ValueError(f"all the input array dimensions except for axis {axis} must match exactly")
    return delivered(generated.cat(tensors, axis), out)


concat = concatenate


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return concatenate([as_tensor(arr), as_tensor(values)], axis)


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    tensors = _several(arrays, dtype, casting)
    if len({tuple(one.shape) for one in tensors}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return delivered(generated.stack(tensors, axis_of(axis, tensors[0].ndim + 1)), out)


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return concatenate([atleast_2d(one) for one in _several(tup)], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    tensors = [atleast_1d(one) for one in _several(tup)]
    return concatenate(tensors, 0 if tensors[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Any:
    return concatenate([atleast_3d(one) for one in _several(tup)], 2)


def column_stack(tup: Any) -> Any:
    return concatenate([one.reshape(-1, 1) if one.ndim < 2 else one for one in _several(tup)], 1)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    x = as_tensor(array)
    if mode == "constant":
        values = kwargs.pop("constant_values", 0)
        if kwargs:
            raise ValueError(f"unsupported keyword arguments for mode 'constant': {set(kwargs)}")
        if type(values) in (int, float) and x.ndim and x.dtype.kind in "fc" and not isinstance(pad_width, dict):
            widths = np.broadcast_to(np.asarray(unwrapped(pad_width)), (x.ndim, 2)).tolist()
            return generated.pad(x, widths, "constant", constant_values=values)
        return moved(lambda a, b: np.pad(a, unwrapped(pad_width), constant_values=b), x, as_tensor(values, x.dtype))
    if mode in ("edge", "wrap", "empty") or (mode in ("reflect", "symmetric") and kwargs.get("reflect_type") != "odd"):
        kind = "edge" if mode == "empty" else mode
        return moved(lambda places: np.pad(places, unwrapped(pad_width), kind, **kwargs), x)
    if callable(mode) or exact(x):
        return wrapped(np.pad(array_of(x), unwrapped(pad_width), mode, **unwrapped(kwargs)))
    return generated.pad(x, unwrapped(pad_width), mode, **kwargs)


# ---- diagonals


def diag(v: Any, k: int = 0) -> Any:
    x = as_tensor(v)
    if x.ndim not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    return generated.diag(x, k)


def diagflat(v: Any, k: int = 0) -> Any:
    return generated.diag(as_tensor(v).reshape(-1), k)


def tril(m: Any, k: int = 0) -> Any:
    x = as_tensor(m)
    return generated.tril(x if x.ndim > 1 else x.reshape(1, -1).expand(x.numel(), x.numel()), k)


def triu(m: Any, k: int = 0) -> Any:
    x = as_tensor(m)
    return generated.triu(x if x.ndim > 1 else x.reshape(1, -1).expand(x.numel(), x.numel()), k)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    from gradsmith.numpy.reductions import sum

    x = as_tensor(a)
    return sum(x.diagonal(offset, axis_of(axis1, x.ndim), axis_of(axis2, x.ndim)), -1, dtype, out)
