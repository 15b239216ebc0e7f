"""Means and variances, with masks and weights, and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith as gs
import gradsmith.numpy as gnp
from gradsmith.numpy_protocols.composed.operands import as_inexact, as_tensor
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing

__all__ = [
    "average", "bincount", "corrcoef", "count_nonzero", "cov", "mean", "polyadd", "polyder", "polyint", "polymul",
    "polysub", "polyval", "std", "unique", "var",
]  # fmt: skip

Axis = Any


def _numbers(a: Any, dtype: Any) -> Any:
    tensor = as_tensor(a)
    return as_inexact(tensor) if dtype is None else tensor.to(np.dtype(dtype))


def mean(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    if axis == () or where is not True or _is_exact(dtype):
        return gnp.mean(a, axis, dtype, None, keepdims, where=where)
    return gs.mean(_numbers(a, dtype), axis, keepdims)


def _is_exact(dtype: Any) -> bool:
    return dtype is not None and np.dtype(dtype).kind not in "fc"


def var(a: Any, axis: Axis = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False, **others: Any) -> Any:
    if axis == () or others or dtype is not None:
        return gnp.var(a, axis, dtype, None, ddof, keepdims, **others)
    return gs.var(_numbers(a, dtype), axis, correction=ddof, keepdim=keepdims)


def std(a: Any, axis: Axis = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False, **others: Any) -> Any:
    if axis == () or others or dtype is not None:
        return gnp.std(a, axis, dtype, None, ddof, keepdims, **others)
    return gs.std(_numbers(a, dtype), axis, correction=ddof, keepdim=keepdims)


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    return gnp.average(a, axis, weights, returned, keepdims=keepdims)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    places, shares = as_tensor(x), None if weights is None else as_tensor(weights)
    if shares is not None and is_batched_tensor(shares):
        return gnp.bincount(places, shares, minlength)
    return gs.bincount(places, weights=shares, minlength=minlength)


def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    if axis == ():
        return gnp.sum(as_tensor(a) != 0, axis, keepdims=keepdims)
    return (as_tensor(a) != 0).sum(axis, bool(keepdims))


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, dtype: Any = None,
) -> Any:  # fmt: skip
    variables = _variables(m, y, rowvar, dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    weights = {
        name: as_tensor(value) for name, value in (("fweights", fweights), ("aweights", aweights)) if value is not None
    }
    if "aweights" in weights:
        weights["aweights"] = as_inexact(weights["aweights"])
    return gs.cov(variables, correction=less, **weights).squeeze()


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    return gs.corrcoef(_variables(x, y, rowvar, dtype)).squeeze()


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """One variable a row."""
    parts = [_numbers(part, dtype) for part in (m, y) if part is not None]
    for part in parts:
        if part.ndim > 2:
            raise ValueError("np.cov() and np.corrcoef() take at most 2 dimensions")
    rows = [gs.atleast_2d(part if rowvar or part.ndim < 2 else part.T) for part in parts]
    return rows[0] if len(rows) == 1 else gs.cat(rows, 0)


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """The values are elements of the tensor: where they come first is found by NumPy, and they are taken from there."""
    tensor = as_tensor(ar)
    _, places, *others = np.unique(
        tensor.detach().numpy(), True, return_inverse, return_counts, axis, equal_nan=equal_nan
    )  # type: ignore[call-overload]
    index = as_tensor(places)
    values = tensor.reshape(-1)[index] if axis is None else gs.index_select(tensor, axis, index)
    more = ([index] if return_index else []) + [as_tensor(other) for other in others]
    return (values, *more) if more else values


# ---- polynomials, the highest power first


def polyval(p: Any, x: Any) -> Any:
    coefficients, places = as_tensor(p), as_tensor(x)
    found = gs.zeros_like(places.detach())
    for coefficient in gs.unbind(coefficients):
        found = found * places + coefficient
    return found


def polyder(p: Any, m: int = 1) -> Any:
    coefficients = as_tensor(p)
    for _ in range(m):
        count = coefficients.shape[0]
        coefficients = coefficients[:-1] * np.arange(count - 1, 0, -1).astype(coefficients.dtype)
    return coefficients


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    coefficients = as_inexact(as_tensor(p))
    constants = gs.zeros(m, dtype=coefficients.dtype) if k is None else gs.atleast_1d(as_tensor(k)).broadcast_to((m,))
    for constant in gs.unbind(constants):
        count = coefficients.shape[0]
        powers = np.arange(count, 0, -1).astype(coefficients.dtype)
        coefficients = gs.cat([coefficients / powers, constant.reshape(1).to(coefficients.dtype)])
    return coefficients


def polyadd(a1: Any, a2: Any) -> Any:
    first, second = _of_one_length(a1, a2)
    return first + second


def polysub(a1: Any, a2: Any) -> Any:
    first, second = _of_one_length(a1, a2)
    return first - second


def polymul(a1: Any, a2: Any) -> Any:
    return gs.convolve(_without_zeros_ahead(a1), _without_zeros_ahead(a2))


def _without_zeros_ahead(coefficients: Any) -> Any:
    """As NumPy's polynomials have them, the last one left; where the numbers are not known, all."""
    found = gs.atleast_1d(as_tensor(coefficients))
    if found.is_meta or is_batched_tensor(found) or is_tracing():
        return found
    others = np.flatnonzero(found.detach().numpy()[:-1])
    return found[int(others[0]) if others.size else -1 :]


def _of_one_length(a1: Any, a2: Any) -> tuple[Any, Any]:
    first, second = gs.atleast_1d(as_tensor(a1)), gs.atleast_1d(as_tensor(a2))
    count = max(first.shape[0], second.shape[0])
    return _longer(first, count), _longer(second, count)


def _longer(coefficients: Any, count: int) -> Any:
    missing = count - coefficients.shape[0]
    return gs.cat([gs.zeros(missing, dtype=coefficients.dtype), coefficients]) if missing else coefficients
