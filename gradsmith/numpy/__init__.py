"""NumPy's functions for tensors, with NumPy's names and NumPy's meaning: ``import gradsmith.numpy as np``.

Where PyTorch and NumPy disagree, this namespace sides with NumPy and `gradsmith` itself with PyTorch: floating-point
numbers are float64, `var` divides by the number of elements, `max` along an axis gives one result, `transpose` of an
array reverses its axes, and so on. Results are tensors.

>>> import gradsmith as gs
>>> import gradsmith.numpy as np
>>> x = gs.tensor([1.0, 2.0, 4.0], dtype=np.float64, requires_grad=True)
>>> np.var(x).backward()
>>> x.grad
tensor([-0.8889, -0.2222,  1.1111], dtype=gradsmith.float64)
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as _numpy

from gradsmith.numpy.published import describe as _describe
from gradsmith.numpy.table import MISSING as _MISSING
from gradsmith.numpy.table import MODULES as _MODULES
from gradsmith.numpy.table import PLAIN as _PLAIN
from gradsmith.numpy.table import SAME as _SAME
from gradsmith.numpy.table import place_of as _place_of

_SPACES = ("emath", "fft", "linalg", "random")
_GRIDS = ("c_", "mgrid", "ogrid", "r_", "vectorize")  # objects that are indexed, and a class
_CLASSES = ("poly1d",)
_UFUNCS = tuple(name for name in dir(_numpy) if isinstance(getattr(_numpy, name), _numpy.ufunc) and name != "isnat")

__all__ = sorted(
    {
        *_SPACES,
        *_GRIDS,
        *_CLASSES,
        *_UFUNCS,
        *(name for names in (*_MODULES.values(), _PLAIN, _SAME) for name in names.split() if hasattr(_numpy, name)),
    }
    - set(_MISSING)
)


def __getattr__(name: str) -> Any:
    """Everything is made on first use."""
    if name in _SPACES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(_why_not(name))
    value = globals()[name] = _made(name)
    return value


def _made(name: str) -> Any:
    own = getattr(_numpy, name)
    if name in _UFUNCS:
        from gradsmith.numpy.ufuncs import ufunc

        return ufunc(name)
    if name in _GRIDS:
        return getattr(importlib.import_module(f"{__name__}.creation"), name)
    if name in _CLASSES:
        return getattr(importlib.import_module(f"{__name__}.calculus"), name)
    if module := _place_of(name):
        return _describe(getattr(importlib.import_module(f"{__name__}.{module}"), name), name, own)
    if name in _PLAIN.split():
        from gradsmith.numpy.published import plain

        return _describe(plain(name, own), name, own)
    return own


def _why_not(name: str) -> str:
    if name in _MISSING:
        return f"gradsmith.numpy has no {name!r}: {_MISSING[name]}"
    if hasattr(_numpy, name) and not name.startswith("_"):
        return f"gradsmith.numpy has no {name!r}: use numpy.{name}, with `x.numpy()` in place of a tensor"
    return f"module {__name__!r} has no attribute {name!r}"


def __dir__() -> list[str]:
    return list(__all__)
