"""A module under a second name, for ``import``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType


def alias_of(name: str, own_name: str) -> ModuleSpec | None:
    """How an import of `name` gives the module that is `own_name`; None when there is no such module."""
    return ModuleSpec(name, _Alias(name, own_name), is_package=True) if _is_module(own_name) else None


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the parent is no package
        return False


class _Alias(Loader):
    """Gives a module of gradsmith under another name; nothing is run again."""

    def __init__(self, name: str, own_name: str) -> None:
        self.name = name
        self.own_name = own_name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.own_name)
        self._spec, self._loader = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The import has given the module the spec of its other name: give the own one back."""
        module.__spec__, module.__loader__ = self._spec, self._loader
        if "." in self.name:
            self._name_parts()

    def _name_parts(self) -> None:
        """Name the modules in a package that are there already, under its other name too.

        An import of one would make it an attribute of the package, in place of a function that may have the same name:
        ``torch.nn.utils.weight_norm`` is a function, and a module for ``import``.
        """
        prefix = f"{self.own_name}."
        parts = {name.removeprefix(prefix): part for name, part in sys.modules.items() if name.startswith(prefix)}
        for name, part in parts.items():
            sys.modules.setdefault(f"{self.name}.{name}", part)
