"""Functions that write into their first argument: into a tensor, with its history, or constants into an array."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.numpy_protocols.composed.operands import as_arrays, as_tensor, require_constant
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def copyto(dst: Any, src: Any, where: Any = True) -> None:
    if not is_tensor(dst):
        return _into_array(np.copyto, dst, src, where=where)
    gs.copyto(dst, as_tensor(src), where=where if where is True else as_tensor(where))
    return None


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if not is_tensor(a):
        return _into_array(np.put, a, ind, v, mode)
    if mode != "raise":
        raise TypeError("np.put() of tensors takes no other mode than 'raise'")
    places = as_tensor(ind).reshape(-1)
    values = as_tensor(v).to(a.dtype).reshape(-1)
    if not values.numel():
        return None
    count = places.shape[0]
    a.put_(places, values.repeat(-(-count // values.shape[0]) or 1)[:count])
    return None


def place(arr: Any, mask: Any, vals: Any) -> None:
    if not is_tensor(arr):
        return _into_array(np.place, arr, mask, vals)
    gs.place(arr, as_tensor(mask), as_tensor(vals))
    return None


def putmask(a: Any, mask: Any, values: Any) -> None:
    if not is_tensor(a):
        return _into_array(np.putmask, a, mask, values)
    gs.putmask(a, as_tensor(mask), as_tensor(values))
    return None


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if not is_tensor(arr):
        return _into_array(np.put_along_axis, arr, indices, values, axis)
    gs.put_along_axis(arr, as_tensor(indices), as_tensor(values), axis)
    return None


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if not is_tensor(a):
        return _into_array(np.fill_diagonal, a, val, wrap)
    mask = np.zeros(tuple(a.shape), np.bool_)
    np.fill_diagonal(mask, True, wrap)
    places = tuple(map(as_tensor, np.nonzero(mask)))
    values = as_tensor(val).to(a.dtype).reshape(-1)
    count = int(mask.sum())
    a.index_put_(places, values.repeat(-(-count // max(values.shape[0], 1)) or 1)[:count])
    return None


def _into_array(function: Any, array: Any, *args: Any, **kwargs: Any) -> None:
    require_constant(function.__name__, [*args, *kwargs.values()])
    function(array, *map(as_arrays, args), **as_arrays(kwargs))
