"""Calls of methods in NumPy's words where PyTorch has no such call: ``x.transpose(2, 0, 1)``, ``x.std(0, ddof=1)``.

Note [NumPy's forms]
A call that PyTorch takes means what it means there. What it refuses, and what can only be meant for NumPy, is what
NumPy's function of that name computes: an argument that PyTorch's method has under no name, several axes where it takes
one. They are looked for when a call has failed, as older forms are (calls/older_forms.pyx).
"""

from __future__ import annotations

import importlib
from typing import Any

# Method -> arguments by name that only NumPy's method has.
ONLY_NUMPYS = {
    "diagonal": {"axis1", "axis2"},
    "flatten": {"order"},
    "max": {"initial", "where"},
    "min": {"initial", "where"},
    "prod": {"initial", "where"},
    "repeat": {"axis"},
    "reshape": {"order"},
    "std": {"ddof", "mean", "where"},
    "sum": {"initial", "where"},
    "take": {"axis", "mode"},
    "transpose": {"axes"},
    "var": {"ddof", "mean", "where"},
}
_OF_ONE_DIM = ("max", "min", "prod")


def means_numpys(name: str, tensor: Any, values: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Is the call, which PyTorch's method has refused, in NumPy's words?"""
    if name == "transpose":
        return len(values) != 2 and named.keys() <= {"axes"} and _are_axes(_spread(values), tensor.ndim)
    if name == "flatten" and len(values) == 1 and isinstance(values[0], str):
        return not named
    if name in _OF_ONE_DIM and type(named.get("axis")) is tuple:
        return True
    return not ONLY_NUMPYS[name].isdisjoint(named)


def _spread(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 and isinstance(values[0], (tuple, list)) else values


def _are_axes(values: Any, ndim: int) -> bool:
    return not values or (len(values) == ndim and all(isinstance(value, int) for value in values))


def computed(name: str, tensor: Any, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What NumPy's function gives."""
    namespace = importlib.import_module("gradsmith.numpy")
    if name == "transpose":
        return namespace.transpose(tensor, _spread(values) or named.get("axes"))
    if name == "reshape":
        return namespace.reshape(tensor, values[0] if len(values) == 1 else values, **named)
    return getattr(namespace, "ravel" if name == "flatten" else name)(tensor, *values, **named)
