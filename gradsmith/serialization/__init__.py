"""Tensors and trees of them in files, which are read without running any code."""

from gradsmith.serialization.checkpoints.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from gradsmith.serialization.files import load, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
