"""Modules under a second name: PyTorch's, where the file here has another name or stands in another folder."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _OtherName(ModuleType):
    """A module under a second name, imported when something of it is asked for."""

    def __init__(self, name: str, module: str) -> None:
        super().__init__(name, f"The names of `{module}`.")
        self.__spec__ = ModuleSpec(name, None)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self._module))


def add_other_name(name: str, module: str) -> ModuleType:
    """Let ``import name`` give what is in a module, without importing that now."""
    other = sys.modules[name] = _OtherName(name, module)
    return other
