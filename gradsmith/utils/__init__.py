"""Tools around the graph."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.utils import checkpoint as checkpoint

__all__ = ["checkpoint"]


def __getattr__(name: str) -> Any:
    """Modules that are imported when they are first used."""
    if name == "checkpoint":
        return importlib.import_module(f"{__name__}.checkpoint")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
