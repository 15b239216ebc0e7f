"""Building blocks of networks."""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn import functional

if TYPE_CHECKING:
    from gradsmith.nn import utils

__all__ = ["functional", "utils"]


def __getattr__(name: str) -> Any:
    """Import rarely used modules on first use."""
    if name == "utils":
        return importlib.import_module("gradsmith.nn.utils")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
