"""Definitions of ops that sort, scan and measure, for the references of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array

Pair = tuple["Array", "Array"]


def sort(x: Array, dim: int = -1, descending: bool = False, stable: bool | None = False) -> Pair:
    """By the places of a sort of the elements one by one."""
    rows = np.moveaxis(x, dim, -1) if x.ndim else x.reshape(1)
    order = np.array([_order(row, descending) for row in rows.reshape(-1, rows.shape[-1])], np.int64)
    places = np.moveaxis(order.reshape(rows.shape), -1, dim) if x.ndim else np.zeros((), np.int64)
    return (np.take_along_axis(x, places, dim) if x.ndim else x), places


def _order(row: Array, descending: bool) -> list[int]:
    """NaN is the greatest."""
    sign = -1 if descending else 1
    return sorted(range(len(row)), key=lambda place: (sign * (row[place] != row[place]), _number(sign, row[place])))


def _number(sign: int, value: Any) -> Any:
    return 0 if value != value else sign * value.item()


def topk(x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    if k < 0:
        raise ValueError("fewer than no elements")
    values, places = sort(x, dim, largest)
    if x.ndim == 0:
        return values, places
    if k > x.shape[dim]:
        raise ValueError("more elements than there are")
    return np.take(values, range(k), axis=dim), np.take(places, range(k), axis=dim)


def _nth(x: Array, number: int, dim: int, keepdim: bool) -> Pair:
    values, places = sort(x, dim)
    if x.ndim == 0:
        return values, places
    first, second = (np.take(one, range(number, number + 1), axis=dim) for one in (values, places))
    return (first, second) if keepdim else (first.squeeze(dim), second.squeeze(dim))


def kthvalue(x: Array, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    if k < 1:
        raise ValueError("counted from one")
    return _nth(x, k - 1, dim, keepdim)


def median_dim(x: Array, dim: int, keepdim: bool = False) -> Pair:
    return _medians(x, dim, keepdim, False)


def nanmedian_dim(x: Array, dim: int, keepdim: bool = False) -> Pair:
    return _medians(x, dim, keepdim, True)


def _medians(x: Array, dim: int, keepdim: bool, ignore_nan: bool) -> Pair:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    rows = np.moveaxis(x, dim, -1)
    places = np.array([_middle(row, ignore_nan) for row in rows.reshape(-1, rows.shape[-1])], np.int64)
    kept = np.expand_dims(places.reshape(rows.shape[:-1]), dim)
    values = np.take_along_axis(x, kept, dim)
    return (values, kept) if keepdim else (values.squeeze(dim), kept.squeeze(dim))


def _middle(row: Array, ignore_nan: bool) -> int:
    missing = [place for place, value in enumerate(row) if value != value]
    if missing and not ignore_nan:
        return missing[0]
    return _order(row, False)[max(len(row) - len(missing) - 1, 0) // 2]


def median(x: Array) -> Array:
    return median_dim(x.reshape(-1), 0)[0]


def nanmedian(x: Array) -> Array:
    return nanmedian_dim(x.reshape(-1), 0)[0]


def argsort(x: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    return sort(x, dim, descending)[1]


def mode(x: Array, dim: int = -1, keepdim: bool = False) -> Pair:
    rows = np.moveaxis(x, dim, -1) if x.ndim else x.reshape(1)
    places = np.array([_mode(row.tolist()) for row in rows.reshape(-1, rows.shape[-1])], np.int64)
    found = places.reshape(rows.shape[:-1])
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    kept = np.expand_dims(found, dim)
    values = np.take_along_axis(x, kept, dim)
    return (values, kept) if keepdim else (values.squeeze(dim), found)


def _mode(row: list[Any]) -> int:
    """Its place. A NaN is taken where it comes first and no number is there twice."""
    if row[0] != row[0] and max((row.count(value) for value in row if value == value), default=0) < 2:
        return 0
    order = [row[place] for place in _order(np.array(row), False)]
    best = min(order, key=lambda value: -row.count(value) if value == value else -1)
    return len(row) - 1 - row[::-1].index(best)


def _running(x: Array, dim: int, is_new: Any) -> Pair:
    rows = np.moveaxis(x, dim, -1) if x.ndim else x.reshape(1)
    places = np.zeros(rows.shape, np.int64)
    for k in range(1, rows.shape[-1]):
        before = np.take_along_axis(rows, places[..., k - 1 : k], -1)[..., 0]
        places[..., k] = np.where(is_new(rows[..., k], before), k, places[..., k - 1])
    values = np.take_along_axis(rows, places, -1)
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    return np.moveaxis(values, -1, dim), np.moveaxis(places, -1, dim)


def cummax(x: Array, dim: int) -> Pair:
    return _running(x, dim, lambda new, old: (new >= old) | np.isnan(new))


def cummin(x: Array, dim: int) -> Pair:
    return _running(x, dim, lambda new, old: (new <= old) | np.isnan(new))


def searchsorted(
    sequence: Array, x: Any, out_int32: bool = False, right: bool = False, side: Any = None, sorter: Any = None
) -> Array:
    """From the definition: how many elements are smaller, or not greater."""
    ordered = sequence if sorter is None else np.take_along_axis(sequence, sorter, -1)
    wanted = np.asarray(x)[..., None]
    rows = ordered if ordered.ndim == 1 else ordered[..., None, :]
    below = rows <= wanted if right or side == "right" else rows < wanted
    return np.asarray(np.sum(below, -1, dtype=np.int32 if out_int32 else np.int64))


def cumprod(x: Array, dim: int, dtype: Any = None) -> Array:
    return np.asarray(np.cumprod(x, axis=dim, dtype=dtype)) if x.ndim else x.astype(dtype or x.dtype)


def recurrence(x: Array, weight: Array, dim: int) -> Array:
    result = np.array(np.moveaxis(x, dim, 0) if x.ndim else x, np.result_type(x, weight))
    if x.ndim == 0:
        return result
    weights = np.moveaxis(weight, dim, 0)
    for k in range(1, len(result)):
        result[k] += weights[k] * result[k - 1]
    return np.moveaxis(result, 0, dim)


def recurrence_reversed(x: Array, weight: Array, dim: int) -> Array:
    if x.ndim == 0:
        return recurrence(x, weight, dim)
    return np.flip(recurrence(np.flip(x, dim), np.roll(np.flip(weight, dim), 1, dim), dim), dim)


def p_norm(x: Array, p: float, dim: Any, keepdim: bool) -> Array:
    """From the definition, by powers of magnitudes."""
    along = None if dim is None or dim == () else tuple(dim) if isinstance(dim, (list, tuple)) else dim
    size = np.abs(x)
    if np.isinf(p):
        return np.asarray((np.max if p > 0 else np.min)(size, axis=along, keepdims=keepdim))
    if p == 0:
        return np.asarray(np.sum(size != 0, axis=along, keepdims=keepdim).astype(size.dtype))
    return np.asarray(np.sum(size**p, axis=along, keepdims=keepdim) ** (1 / p))


def row_steps(weights: Array, rows: Array, others: Array, p: float) -> Array:
    """Weighted sums of differences between rows: for p = 1 of their signs, for p = inf of the signs of the greatest."""
    steps: Array = np.expand_dims(rows, -2) - np.expand_dims(others, -3)
    if p == np.inf:
        steps = np.where(np.abs(steps) == np.abs(steps).max(-1, keepdims=True), np.sign(steps), 0.0)
    elif p == 1:
        steps = np.nan_to_num(np.sign(steps))  # of NaN the sign is zero
    weighted = np.expand_dims(weights, -1) * steps
    return np.asarray(np.sum(weighted if p == 2 else np.where(steps == 0, 0.0, weighted), axis=-2))


DEFINITIONS = (
    argsort, cummax, cummin, cumprod, kthvalue, median, median_dim, mode, nanmedian, nanmedian_dim, p_norm, recurrence,
    recurrence_reversed, row_steps, searchsorted, sort, topk,
)  # fmt: skip
