"""NumPy for HIPS programs: NumPy's own functions of arrays, those of `gradsmith.numpy` where a box is among them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as _numpy

import gradsmith.numpy as _ours
from gradsmith.compat.hips.boxes import getval
from gradsmith.compat.hips.boxes import lifted as _lifted

_SPACES = ("fft", "linalg", "numpy_boxes", "numpy_vjps", "numpy_vspaces", "random")
_RENAMED = {"row_stack": "vstack"}  # which NumPy is about to drop
_FORMS = ("c_", "r_", "vectorize")
__all__ = sorted({*(name for name in dir(_numpy) if not name.startswith("_")), "make_diagonal", *_SPACES})
__version__ = _numpy.__version__


def __getattr__(name: str) -> Any:
    """Everything is made on first use."""
    if name in _SPACES:
        return importlib.import_module(f"{__name__}.{name}")
    name = _RENAMED.get(name, name)
    if name in globals():
        return globals()[name]
    value = getattr(_numpy, name)  # NumPy's error where there is no such name
    if name in _FORMS:
        value = getattr(importlib.import_module(f"{__name__}.forms"), name)
    elif name in _ours.__all__ and callable(getattr(_ours, name)) and getattr(_ours, name) is not value:
        value = _of_boxes(name, value)
    if not name.startswith("__"):
        globals()[name] = value
    return value


def _of_boxes(name: str, own: Any) -> Any:
    ours = getattr(_ours, name)
    if isinstance(ours, type):
        return ours
    forms = importlib.import_module(f"{__name__}.forms")
    lifted = _lifted(ours, own)
    return forms.of_iterables(lifted, forms.ITERABLES[name]) if name in forms.ITERABLES else lifted


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Matrices with the last axis of `D` on their diagonals, in its last two axes."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("Can only make diagonals of last two axes: offset=0, axis1=-1, axis2=-2")
    eye = _numpy.eye(_numpy.shape(getval(D))[-1])
    return D[..., None] * eye


def __dir__() -> list[str]:
    return list(__all__)
