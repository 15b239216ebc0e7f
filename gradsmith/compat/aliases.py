"""gradsmith's modules under the name of another library, for as long as a block lasts."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import NamedTuple


class Other(NamedTuple):
    """A library whose name is taken: ``torch.nn`` is found where ``gradsmith.nn`` is."""

    name: str
    own: tuple[str, ...]  # where its modules are looked for; the first is itself under the name
    block: str  # what the user calls
    title: str
    reason_for: Callable[[str, str], str | None]  # why a module, as (parent, name), is missing

    def covers(self, module: str) -> bool:
        return module == self.name or module.startswith(f"{self.name}.")


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


class _Finder(MetaPathFinder):
    """Finds modules of the other library."""

    def __init__(self, other: Other) -> None:
        self.other = other

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self.other.covers(fullname):
            return None
        name = fullname.removeprefix(self.other.name)
        for own_name in (f"{own}{name}" for own in self.other.own):
            if _is_module(own_name):
                return ModuleSpec(fullname, _Alias(fullname, own_name), is_package=True)
        raise ModuleNotFoundError(self._problem(fullname), name=fullname)

    def _problem(self, name: str) -> str:
        parent, _, last = name.rpartition(".")
        reason = self.other.reason_for(parent, last) or f"{name} has no counterpart in gradsmith."
        return f"No module named {name!r}. {reason}"


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the parent is no package
        return False


class UnderName(ContextDecorator):
    """A block in which imports of the other library give gradsmith's modules; none of them stays in `sys.modules`.

    It is no generator: one whose block has never ended would be closed when the modules of Python are gone already.
    """

    other: Other

    def __enter__(self) -> ModuleType:
        other = self.other
        self._outer = {name for name in sys.modules if other.covers(name)}
        if other.name in self._outer and sys.modules[other.name].__name__ != other.own[0]:
            raise RuntimeError(
                f"{other.block}(): {other.title} itself has been imported in this process, as {other.name!r}. Start a "
                f"process in which it is not, and open the block before anything imports {other.name}"
            )
        self._begin()
        self._finder = _Finder(other)
        sys.meta_path.insert(0, self._finder)
        return importlib.import_module(other.name)

    def __exit__(self, *exc_info: object) -> None:
        sys.meta_path.remove(self._finder)
        if not any(isinstance(finder, _Finder) and finder.other is self.other for finder in sys.meta_path):
            self._end()
        for name in [name for name in sys.modules if self.other.covers(name) and name not in self._outer]:
            del sys.modules[name]

    def _begin(self) -> None:
        """Set up whatever the library offers beyond its modules."""

    def _end(self) -> None:
        """Undo it, at the end of the outermost block."""

    def _recreate_cm(self) -> UnderName:
        """As a decorator, a block of its own for every call."""
        return type(self)()
