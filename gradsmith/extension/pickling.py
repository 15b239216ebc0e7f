"""Loaded tables in other processes: a package is pickled as the texts that it was made from.

No other process can import the package by its name. Where it is kept, since both processes are on one machine, it is
loaded from there; elsewhere it is built once more.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple


class Source(NamedTuple):
    """What `load_ops` was given, by content: files may change, or not be there."""

    table: tuple[str, bytes]
    functions: tuple[str, bytes] | None
    methods: bool

    @classmethod
    def read(cls, table: Path, functions: str | os.PathLike[str] | None, methods: bool) -> Source:
        code = None if functions is None else (Path(functions).name, Path(functions).read_bytes())
        return cls((table.name, table.read_bytes()), code, methods)

    def written(self, folder: Path) -> tuple[Path, Path | None]:
        """Files with the texts, in a folder."""
        paths = [folder / name for name, _ in filter(None, (self.table, self.functions))]
        for path, (_, content) in zip(paths, filter(None, (self.table, self.functions))):
            path.write_bytes(content)
        return paths[0], paths[1] if len(paths) > 1 else None


class TableModule(ModuleType):
    """A package that `load_ops` has loaded, or a module of it."""

    def __reduce__(self) -> Any:
        return module_of, self.__dict__["__found__"]


def module_of(package: str, source: Source, module: str) -> ModuleType:
    """What a `TableModule` is pickled as."""
    from .loading import load_again

    found = load_again(package, source)
    return sys.modules[f"{found.__name__}.{module}"] if module else found


def picklable(package: ModuleType, source: Source) -> ModuleType:
    """The package, whose modules can be pickled from now on; those it shares with another one belong to the first."""
    for full_name, module in list(sys.modules.items()):
        name, _, own = full_name.partition(".")
        if name == package.__name__ and type(module) is ModuleType:
            module.__class__ = TableModule
            module.__dict__["__found__"] = name, source, own
    return package
