"""The distributions and statistics of `gradsmith.stats`, under SciPy's path."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Imported on first use."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("gradsmith.stats"), name)


def __dir__() -> list[str]:
    return list(importlib.import_module("gradsmith.stats").__all__)
