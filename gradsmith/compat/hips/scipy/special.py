"""SciPy's `special` for arrays and boxes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gradsmith.scipy.special as _ours
from gradsmith.compat.hips import numpy as np
from gradsmith.compat.hips.boxes import getval
from gradsmith.compat.hips.scipy.functions import namespace as _namespace

__all__ = list(_ours.__all__)
_found = _namespace(_ours, globals())

# Where functions have an integer, of which SciPy takes arrays too, and where they have what they are a function of.
ORDERS = {**dict.fromkeys(_ours.ORDERED.split(), (0, 1)), "lambertw": (1, 0)}


def __getattr__(name: str) -> Any:
    value = _found(name)
    if name in ORDERS:
        value = globals()[name] = _of_orders(value, *ORDERS[name])
    return value


def _of_orders(function: Callable[..., Any], place: int, other: int) -> Callable[..., Any]:
    """A function of an integer as one of arrays of integers, by which there is no derivative."""

    @functools.wraps(function)
    def of_orders(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= max(place, other):
            return function(*args, **kwargs)
        orders, x = np.asarray(getval(args[place])), args[other]

        def of_order(order: Any, x: Any) -> Any:
            given = list(args)
            given[place], given[other] = int(order) if order == int(order) else order, x
            return function(*given, **kwargs)

        return of_order(orders[()], x) if orders.ndim == 0 else _put_together(of_order, orders, x)

    return of_orders


def _put_together(of_order: Callable[[Any, Any], Any], orders: Any, x: Any) -> Any:
    """Each order's elements; the others are replaced by 1, where all functions are finite and so are their slopes."""
    result: Any = np.zeros(np.broadcast_shapes(orders.shape, np.shape(getval(x))))
    for order in np.unique(orders):
        chosen = orders == order
        result = np.where(chosen, of_order(order, np.where(chosen, x, 1.0)), result)
    return result
