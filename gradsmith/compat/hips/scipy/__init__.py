"""SciPy for HIPS programs: SciPy's own functions of arrays, those of `gradsmith.scipy` where a box is among them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["integrate", "linalg", "misc", "signal", "special", "stats"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
