"""Graphs that are recorded once: here functions are cheap to record, so they are simply called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["const_graph", "const_graph_unary"]


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function, of which its user promises that it always takes the same branches."""
    return fun


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """The function with its first arguments given; its user promises that it always takes the same branches."""
    return functools.update_wrapper(functools.partial(fun, *args, **kwargs), fun)
