"""NumPy's reductions: sums, products, extremes, and running ones."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from math import prod as product
from typing import Any

import gradsmith.generated as generated
from gradsmith.generated import where as chosen
from gradsmith.numpy.arguments import (
    NO_VALUE,
    array_of,
    as_tensor,
    axis_of,
    delivered,
    exact,
    np,
    of_dtype,
    reduced_axes,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.numpy.ufuncs import ufunc


def _reduced(
    op: Callable[..., Any], x: Any, axis: Any, keepdims: Any, out: Any, neutral: Any = None, where: Any = NO_VALUE
) -> Any:
    """`op` along the axes; with a mask, elements outside it count as the neutral one."""
    if where is not NO_VALUE and where is not True:
        x = chosen(mask_of(where, x), x, as_tensor(neutral, x.dtype))
    axes = reduced_axes(axis, x.ndim)
    if not axes:  # nothing is reduced, but the elements are those of the function
        x, axes = x.unsqueeze(0), (0,)
        keepdims = False
    return delivered(op(x, axes, keepdims is True or (keepdims is not NO_VALUE and bool(keepdims))), out)


def mask_of(where: Any, x: Any) -> Any:
    """A mask of elements, which has the shape of them or is broadcast to it."""
    mask = as_tensor(where) if hasattr(where, "dtype") else as_tensor(where, bool)
    if mask.dtype.kind != "b":
        raise TypeError(f"where= is a mask of bools, but has the dtype {mask.dtype}; use `where != 0`")
    sizes, shape = tuple(mask.shape), tuple(x.shape)
    if len(sizes) > len(shape) or builtins.any(n not in (1, size) for n, size in zip(sizes[::-1], shape[::-1])):
        raise ValueError(f"where= has the shape {sizes}, which does not broadcast to the shape {shape} of the operand")
    return mask


def _with_initial(combined: str, result: Any, initial: Any) -> Any:
    if initial is NO_VALUE or initial is None:
        return result
    return ufunc(combined)(result, as_tensor(initial, result.dtype))


def _summed(name: str, op: Any, combined: str, neutral: int, args: Any) -> Any:
    a, axis, dtype, out, keepdims, initial, where = args
    x = as_tensor(a)
    kind = x.dtype if dtype is None and x.dtype.kind in "fc" else _dtype_of_sum(combined, x.dtype, dtype)
    if kind.kind not in "fc" and not without_data([x]):
        return _plain(name, x, out, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    x = of_dtype(x, kind)
    if initial is not NO_VALUE:
        return delivered(_with_initial(combined, _reduced(op, x, axis, keepdims, None, neutral, where), initial), out)
    return _reduced(op, x, axis, keepdims, out, neutral, where)


@functools.cache
def _dtype_of_sum(combined: str, kind: Any, dtype: Any) -> Any:
    return getattr(np, combined).reduce(np.ones(1, kind), dtype=dtype).dtype


def _plain(name: str, x: Any, out: Any, **options: Any) -> Any:
    """By NumPy itself, where there is no derivative."""
    options = {key: unwrapped(value) for key, value in options.items() if value is not NO_VALUE}
    return delivered(wrapped(getattr(np, name)(array_of(x), **options)), out)


def _product(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Along one axis after the other, which the op takes."""
    for axis in sorted(axes, reverse=True):
        x = generated.prod(x, axis, keepdims)
    return x


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    return _summed("sum", generated.sum, "add", 0, (a, axis, dtype, out, keepdims, initial, where))


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    return _summed("prod", _product, "multiply", 1, (a, axis, dtype, out, keepdims, initial, where))


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    x = as_tensor(a)
    kind = np.dtype(dtype) if dtype is not None else np.dtype(np.float64) if exact(x) else x.dtype
    total = sum(of_dtype(x, kind), axis, kind, None, keepdims, NO_VALUE, where)
    count = _count(x, axis, keepdims, where)
    if kind.kind not in "fc":  # the quotient is cut off
        return delivered(of_dtype(ufunc("true_divide")(total, count), kind), out)
    return delivered(total / count, out)


def _count(x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements each result is made of: a number, or a tensor with a mask."""
    if where is NO_VALUE or where is True:
        return x.numel() if axis is None else product(x.shape[one] for one in reduced_axes(axis, x.ndim))
    mask = mask_of(where, x).expand(x.shape)
    return sum(of_dtype(mask, np.int64), axis, None, None, keepdims)


def _extreme(name: str, op: Any, combined: str, args: Any) -> Any:
    a, axis, out, keepdims, initial, where = args
    x = as_tensor(a)
    if (exact(x) or x.dtype.kind == "c" or x.numel() == 0) and not without_data([x]):
        return _plain(name, x, out, axis=axis, keepdims=keepdims, initial=initial, where=where)
    masked = where is not NO_VALUE and where is not True
    if masked and initial is NO_VALUE:
        raise ValueError(
            f"reduction operation '{combined}' does not have an identity, "
            "so to use a where mask one has to specify 'initial'"
        )
    result = _reduced(op, x, axis, keepdims, None, initial, where)
    return delivered(_with_initial(combined, result, initial), out)


def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    return _extreme("max", generated.amax, "maximum", (a, axis, out, keepdims, initial, where))


def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    return _extreme("min", generated.amin, "minimum", (a, axis, out, keepdims, initial, where))


def amax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    return max(a, axis, out, keepdims, initial, where)


def amin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    return min(a, axis, out, keepdims, initial, where)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    return delivered(ufunc("subtract")(max(a, axis, None, keepdims), min(a, axis, None, keepdims)), out)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Any:
    return _truth("all", generated.all, (a, axis, out, keepdims, where))


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE) -> Any:
    return _truth("any", generated.any, (a, axis, out, keepdims, where))


def _truth(name: str, op: Any, args: Any) -> Any:
    a, axis, out, keepdims, where = args
    x = as_tensor(a)
    if without_data([x]):
        return _reduced(op, x.bool(), axis, keepdims, out, name == "all", where)
    return _plain(name, x, out, axis=axis, keepdims=keepdims, where=where)


# ---- without NaN


def _filled(a: Any, value: Any) -> Any:
    """NaN replaced, without a gradient there."""
    x = as_tensor(a)
    return x if exact(x) else chosen(x.isnan(), as_tensor(value, x.dtype), x)


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    return sum(_filled(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    return prod(_filled(a, 1), axis, dtype, out, keepdims, initial, where)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    return mean(_filled(a, 0), axis, dtype, out, keepdims, where=present(a, where))


def present(a: Any, where: Any) -> Any:
    """The mask of what is no NaN, within a mask."""
    x = as_tensor(a)
    mask = as_tensor(np.True_).expand(x.shape) if exact(x) else x.isnan().logical_not()
    return mask if where is NO_VALUE or where is True else mask & mask_of(where, x)


def _nan_extreme(name: str, filling: float, args: Any) -> Any:
    a, axis, out, keepdims, initial, where = args
    x = as_tensor(a)
    if exact(x):
        return globals()[name](x, axis, out, keepdims, initial, where)
    result = globals()[name](_filled(x, filling), axis, None, keepdims, initial, where)
    empty = all(x.isnan(), axis, None, keepdims)
    if initial is NO_VALUE:
        result = chosen(empty, as_tensor(np.nan, result.dtype), result)
    return delivered(result, out)


def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    return _nan_extreme("max", -np.inf, (a, axis, out, keepdims, initial, where))


def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    return _nan_extreme("min", np.inf, (a, axis, out, keepdims, initial, where))


# ---- running ones


def _running(name: str, op: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    x = as_tensor(a)
    if axis is None:
        x, axis = x.reshape(-1), 0
    kind = getattr(np, name)(np.ones(1, x.dtype), dtype=dtype).dtype
    if kind.kind not in "fc" and not without_data([x]):
        return _plain(name, x, out, axis=axis, dtype=dtype)
    x = x.reshape(-1) if x.ndim == 0 else x
    return delivered(op(of_dtype(x, kind), axis_of(axis, x.ndim)), out)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running("cumsum", generated.cumsum, a, axis, dtype, out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running("cumprod", generated.cumprod, a, axis, dtype, out)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumsum(_filled(a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return cumprod(_filled(a, 1), axis, dtype, out)


def _cumulative(function: Any, neutral: int, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool) -> Any:
    x = as_tensor(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    result = function(x, axis, dtype)
    if include_initial:
        first = result.narrow(axis_of(axis, x.ndim), 0, 1) if result.shape[axis] else result
        sizes = [1 if place == axis_of(axis, x.ndim) else n for place, n in enumerate(first.shape)]
        result = generated.cat([result.new_full(sizes, neutral), result], axis)
    return delivered(result, out)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return _cumulative(cumsum, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return _cumulative(cumprod, 1, x, axis, dtype, out, include_initial)
