"""gradsmith's modules under the name of another library, for as long as a block lasts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ContextDecorator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType
from typing import NamedTuple

from gradsmith.names.alias import alias_of


class Other(NamedTuple):
    """A library whose name is taken: ``torch.nn`` is found where ``gradsmith.nn`` is."""

    name: str
    own: tuple[str, ...]  # where its modules are looked for; the first is itself under the name
    block: str  # what the user calls
    title: str
    reason_for: Callable[[str, str], str | None]  # why a module, as (parent, name), is missing
    companions: Mapping[str, str] = MappingProxyType({})  # packages that come with it, and the modules that are them

    def covers(self, module: str) -> bool:
        return module.partition(".")[0] in (self.name, *self.companions)

    def places_of(self, module: str) -> tuple[str, ...]:
        """Where a module is looked for."""
        package, dot, rest = module.partition(".")
        if package in self.companions:
            return (self.companions[package] + dot + rest,)
        return tuple(own + dot + rest for own in self.own)


class _Finder(MetaPathFinder):
    """Finds modules of the other library."""

    def __init__(self, other: Other) -> None:
        self.other = other

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self.other.covers(fullname):
            return None
        for place in self.other.places_of(fullname):
            if spec := alias_of(fullname, place):
                return spec
        raise ModuleNotFoundError(self._problem(fullname), name=fullname)

    def _problem(self, name: str) -> str:
        parent, _, last = name.rpartition(".")
        reason = self.other.reason_for(parent, last) or f"{name} has no counterpart in gradsmith."
        return f"No module named {name!r}. {reason}"


class UnderName(ContextDecorator):
    """A block in which imports of the other library give gradsmith's modules; none of them stays in `sys.modules`.

    It is no generator: one whose block has never ended would be closed when the modules of Python are gone already.
    """

    other: Other

    def __enter__(self) -> ModuleType:
        other = self.other
        self._outer = {name for name in sys.modules if other.covers(name)}
        if other.name in self._outer and sys.modules[other.name] is not sys.modules.get(other.own[0]):
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
