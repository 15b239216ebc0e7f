"""Functions that reduce axes, and sums and products so far."""

from __future__ import annotations

from collections.abc import Callable

import gradsmith as gs
from gradsmith.array_api.operands import DType, Tensor, axes_of, axis_of, promoted, tensor_of
from gradsmith.runtime.arrays.dtypes import as_dtype

__all__ = [
    "all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip

Axis = int | tuple[int, ...] | None


_WIDE = {"b": gs.int64, "i": gs.int64, "u": gs.uint64}


def _widened(function: str, x: Tensor, dtype: DType | None) -> Tensor:
    """The elements in the dtype of their sum: that of small integers is as wide as the default integer."""
    wide = _WIDE.get(x.dtype.kind, x.dtype) if dtype is None else as_dtype(dtype, function)
    return x if wide == x.dtype else x.to(wide)


# ---- reductions


def sum(x: Tensor, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """Sums along axes, along all if `axis` is None; those of integers in 64 bits unless `dtype` is given."""
    axes = axes_of("sum", tensor_of("sum", x), axis)
    wide = _widened("sum", x, dtype)
    return gs.sum(wide, axes, keepdims, dtype=wide.dtype) if axes else wide


def prod(x: Tensor, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """Products along axes, along all if `axis` is None; those of integers in 64 bits unless `dtype` is given."""
    axes = axes_of("prod", tensor_of("prod", x), axis)
    found = _widened("prod", x, dtype)
    for one in sorted(axes, reverse=True):
        found = gs.prod(found, one, keepdims, dtype=found.dtype)
    return found


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Means along axes, along all if `axis` is None."""
    axes = axes_of("mean", tensor_of("mean", x), axis)
    return gs.mean(x, axes, keepdims) if axes else x


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest elements along axes, along all if `axis` is None; NaN where there is one."""
    return _extreme("max", gs.amax, x, axis, keepdims)


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least elements along axes, along all if `axis` is None; NaN where there is one."""
    return _extreme("min", gs.amin, x, axis, keepdims)


def _extreme(function: str, reduce: Callable[..., Tensor], x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    axes = axes_of(function, tensor_of(function, x), axis)
    return reduce(x, axes, keepdims) if axes else x


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Square roots of the variances along axes; see `var`."""
    return _spread("std", gs.std, x, axis, correction, keepdims)


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variances along axes, along all if `axis` is None, by the number of elements less `correction`."""
    return _spread("var", gs.var, x, axis, correction, keepdims)


def _spread(
    function: str, reduce: Callable[..., Tensor], x: Tensor, axis: Axis, correction: float, keepdims: bool
) -> Tensor:
    axes = axes_of(function, tensor_of(function, x), axis)
    if not axes:  # an axis of one element
        return reduce(x.unsqueeze(0), (0,), correction=correction)
    return reduce(x, axes, correction=correction, keepdim=keepdims)


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are true, along all axes if `axis` is None."""
    return _truth("all", gs.all, x, axis, keepdims)


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether an element along axes is true, along all axes if `axis` is None."""
    return _truth("any", gs.any, x, axis, keepdims)


def _truth(function: str, reduce: Callable[..., Tensor], x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    axes = axes_of(function, tensor_of(function, x), axis)
    truth = x.to(gs.bool)
    return reduce(truth, axes, keepdims) if axes else truth


# ---- along an axis


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """Sums of the elements so far along an axis, which may be left out for a vector.

    Parameters
    ----------
    include_initial : bool
        Whether the result begins with the sum of no elements.

    Raises
    ------
    ValueError
        `axis` is None, and `x` has several.
    """
    return _so_far("cumulative_sum", gs.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """Products of the elements so far along an axis, with the parameters of `cumulative_sum`."""
    return _so_far("cumulative_prod", gs.cumprod, 1, x, axis, dtype, include_initial)


def _so_far(
    function: str,
    scan: Callable[..., Tensor],
    initial: int,
    x: Tensor,
    axis: int | None,
    dtype: DType | None,
    include_initial: bool,
) -> Tensor:
    if axis is None and tensor_of(function, x).ndim != 1:
        raise ValueError(f"{function}(): axis must be given for a tensor of {x.ndim} dimensions")
    at = axis_of(function, tensor_of(function, x).ndim, 0 if axis is None else axis)
    wide = _widened(function, x, dtype)
    found = scan(wide, at, dtype=wide.dtype)
    if not include_initial:
        return found
    shape = (*x.shape[:at], 1, *x.shape[at + 1 :])
    return gs.cat([gs.full(shape, initial, dtype=found.dtype, device=x.device), found], at)


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Differences of neighbours along an axis, `n` times.

    Parameters
    ----------
    prepend, append : Tensor, optional
        Elements before and behind those of `x`.
    """
    at = axis_of("diff", tensor_of("diff", x).ndim, axis)
    parts = [part for part in (prepend, x, append) if part is not None]
    return gs.diff(gs.cat(list(promoted("diff", *parts)), at) if len(parts) > 1 else x, n, at)
