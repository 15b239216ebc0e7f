"""Tensors and trees of them in files, which are read without running any code."""

from collections.abc import Callable
from typing import Any, TypeAlias

from gradsmith.runtime.arrays.device import device
from gradsmith.serialization.checkpoints.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from gradsmith.serialization.files import load, save

__all__ = ["MAP_LOCATION", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

# What `load` takes as `map_location`.
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | device | str | dict[str, str] | None
