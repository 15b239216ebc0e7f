"""Modules whose names are imported when they are first used, and that have all of them for who looks into their dict.

Libraries make classes of all that they find in ``vars(torch.optim)``. A module is asked for its ``__dict__`` then, and
imports the rest before it answers; its own code, which has its globals without asking, stays as lazy as it was.

An attribute of such a module takes some 50 ns more to find, so the functions of networks are in one only as long as a
block of `gradsmith.compat.as_torch` is open.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_DICT: Any = vars(ModuleType)["__dict__"]


class OnDemand(ModuleType):
    """A module that imports all its names when its ``__dict__`` is read."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        names: dict[str, Any] = _DICT.__get__(self)
        if "_has_all" not in names:
            names["_has_all"] = True  # first, since an import may ask again
            _import_all(self, names)
        return names

    def __dir__(self) -> list[str]:
        """By the module's own function, which imports nothing."""
        found: list[str] = _DICT.__get__(self)["__dir__"]()
        return found


def _import_all(module: ModuleType, names: dict[str, Any]) -> None:
    absent = object()
    for name in dir(module):
        value = names[name] if name in names else getattr(module, name, absent)
        if value is not absent:
            names.setdefault(name, value)


def show_all_names(module: str) -> None:
    """Let a module that has a ``__dir__`` have all its names in its ``__dict__``."""
    sys.modules[module].__class__ = OnDemand


def show_imported_names(module: str) -> None:
    """Undo `show_all_names`; what has been imported stays."""
    sys.modules[module].__class__ = ModuleType
