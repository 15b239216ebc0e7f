"""NumPy's `fft` for arrays and boxes."""

from __future__ import annotations

from typing import Any

import numpy as _numpy

import gradsmith.numpy.fft as _ours
from gradsmith.compat.hips.boxes import lifted as _lifted

__all__ = sorted(_ours.__all__)


def __getattr__(name: str) -> Any:
    own = getattr(_numpy.fft, name)
    if name in __all__ and not isinstance(own, type):
        own = globals()[name] = _lifted(getattr(_ours, name), own)
    return own


def __dir__() -> list[str]:
    return list(__all__)
