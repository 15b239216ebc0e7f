"""NumPy's functions that make arrays. Of numbers that are tensors, arrays and ranges keep the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    array_of,
    as_tensor,
    is_tensor,
    np,
    of_dtype,
    result_type,
    unwrapped,
    without_data,
    wrapped,
)


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0, like: Any = None,
) -> Any:  # fmt: skip
    x = as_tensor(object, dtype)
    if copy and (x is object or isinstance(object, np.ndarray)):
        x = x.clone()
    elif copy is False and not is_tensor(object) and not isinstance(object, np.ndarray):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return x.reshape((*[1] * (ndmin - x.ndim), *x.shape)) if ndmin > x.ndim else x


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    return array(a, dtype, copy=copy)


def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    return array(a, dtype, copy=copy)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    x = as_tensor(a, dtype)
    np.asarray_chkfinite(array_of(x))
    return x


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    x = as_tensor(a, dtype).contiguous()
    return x.reshape(1) if x.ndim == 0 else x


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    x = as_tensor(a, dtype)
    return x.permute(tuple(range(x.ndim))[::-1]).contiguous().permute(tuple(range(x.ndim))[::-1])


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    wanted = {str(one).upper() for one in (requirements or ())}
    x = as_tensor(a, dtype)
    if wanted & {"F", "FORTRAN", "F_CONTIGUOUS"}:
        return asfortranarray(x)
    return x.contiguous() if wanted & {"C", "CONTIGUOUS", "C_CONTIGUOUS"} else x


# ---- filled with numbers


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    sizes = np.broadcast_shapes(unwrapped(shape))
    return as_tensor(fill_value, dtype).expand(sizes).clone()


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    x = as_tensor(a)
    return full(tuple(x.shape) if shape is None else shape, fill_value, x.dtype if dtype is None else dtype)


def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(np.zeros, a, dtype, shape)


def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(np.ones, a, dtype, shape)


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(np.empty, prototype, dtype, shape)


def _like(made: Callable[..., Any], a: Any, dtype: Any, shape: Any) -> Any:
    """Only the shape and dtype of `a` count."""
    x = as_tensor(a)
    return wrapped(made(tuple(x.shape) if shape is None else unwrapped(shape), x.dtype if dtype is None else dtype))


# ---- ranges


def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    if not any(map(_is_differentiable, (start, stop))):
        found = np.linspace(*unwrapped((start, stop, num)), endpoint, retstep, dtype, axis)
        return wrapped(found)
    kind = np.result_type(result_type(start, stop, float(num)), np.float64(0) if dtype is None else np.float16)
    first, last = as_tensor(start, kind), as_tensor(stop, kind)
    shares = np.linspace(0.0, 1.0, num, endpoint)
    steps = wrapped(shares.reshape(-1, *[1] * max(first.ndim, last.ndim))).to(kind)
    values = first * (1 - steps) + last * steps
    parts = num - 1 if endpoint else num
    step = (last - first) / parts if parts else first * np.nan
    values = values.movedim(0, axis)
    values = values if dtype is None else of_dtype(values, dtype)
    return (values, step) if retstep else values


def _is_differentiable(value: Any) -> bool:
    return is_tensor(value) or type(value) in (list, tuple)


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if not any(map(_is_differentiable, (start, stop, base))):
        return wrapped(np.logspace(start, stop, num, endpoint, base, dtype, axis))
    powers = linspace(start, stop, num, endpoint)
    bases = as_tensor(base, powers.dtype)
    if bases.ndim:
        powers = linspace(start, stop, num, endpoint).reshape((num, *[1] * bases.ndim)) if powers.ndim == 1 else powers
    values = (bases**powers).movedim(0, axis)
    return values if dtype is None else of_dtype(values, dtype)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    if not any(map(_is_differentiable, (start, stop))):
        return wrapped(np.geomspace(start, stop, num, endpoint, dtype, axis))
    first, last = as_tensor(start, np.float64), as_tensor(stop, np.float64)
    if not without_data([first, last]) and (bool((first == 0).any()) or bool((last == 0).any())):
        raise ValueError("Geometric sequence cannot include zero")
    values = first * (last / first) ** linspace(np.zeros(tuple(first.shape)), as_tensor(1.0), num, endpoint).to(
        np.float64
    )
    values = values.movedim(0, axis)
    return values if dtype is None else of_dtype(values, dtype)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    tensor = as_tensor(x)
    if tensor.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    return generated.vander(of_dtype(tensor, np.promote_types(tensor.dtype, np.int64)), N, increasing)
