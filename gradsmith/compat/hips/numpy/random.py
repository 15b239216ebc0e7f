"""NumPy's random numbers: of arrays NumPy's own, and differentiable where a parameter is a box."""

from __future__ import annotations

from typing import Any

import numpy as _numpy

import gradsmith.numpy.random as _ours
from gradsmith.compat.hips.boxes import lifted as _lifted

__all__ = [name for name in dir(_numpy.random) if not name.startswith("_")]


def __getattr__(name: str) -> Any:
    own = getattr(_numpy.random, name)
    if name in _ours.__all__ and not isinstance(own, type) and name != "default_rng":
        own = globals()[name] = _lifted(getattr(_ours, name), own)
    return own


def __dir__() -> list[str]:
    return list(__all__)
