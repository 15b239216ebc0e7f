"""A distribution whose functions take arrays and boxes."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from gradsmith.compat.hips.boxes import has_box
from gradsmith.compat.hips.scipy.functions import of_arrays
from gradsmith.numpy.arguments import np


class Distribution:
    """The functions of one of `gradsmith.stats`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ours = getattr(importlib.import_module("gradsmith.stats"), name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.ours, name)
        return _in_double(of_arrays(found)) if callable(found) else found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _in_double(of_arrays(self.ours))(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<distribution {self.name} of arrays and boxes>"


def _in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes in float64 with numbers, lists and integers, as SciPy does."""

    @functools.wraps(function)
    def in_double(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_double, args), **{key: _double(value) for key, value in kwargs.items()})

    return in_double


def _double(value: Any) -> Any:
    if isinstance(value, (bool, str)) or value is None or has_box(value):
        return value
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind in "iu" or not isinstance(value, np.ndarray) else value


def function_of(distribution: str, name: str) -> Any:
    """A function of a distribution, for the module of its name."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(Distribution(distribution), name)
