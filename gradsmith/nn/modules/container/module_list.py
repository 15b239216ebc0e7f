"""A list whose elements are modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gradsmith.nn.modules.container.places import numbered, place_of
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.module.wording import indented

if TYPE_CHECKING:
    from typing_extensions import Self


class ModuleList(Module):
    """A list of modules, whose parameters belong to the module that has the list.

    Parameters
    ----------
    modules : iterable of Module, optional

    Examples
    --------
    >>> from gradsmith import nn
    >>> nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU()])
    ModuleList(
      (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)
      (2): ReLU()
    )
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._modules[self._name(idx)]

    def __setitem__(self, idx: int, module: Any) -> None:
        setattr(self, self._name(idx), module)

    def __delitem__(self, idx: Any) -> None:
        """Remove a module or a slice; those that remain are numbered anew."""
        for name in list(self._modules)[idx] if isinstance(idx, slice) else [self._name(idx)]:
            delattr(self, name)
        self._modules = numbered(self._modules.values())

    def _name(self, index: Any) -> str:
        return str(place_of(index, len(self)))

    def append(self, module: Any) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> None:
        """Add a module before a place, as the method of a list does."""
        modules = list(self)
        modules.insert(index, module)
        self.add_module(str(len(self)), module)  # which refuses what is no module
        self._modules = numbered(modules)

    def extend(self, modules: Iterable[Any]) -> Self:
        """Add modules at the end.

        Raises
        ------
        TypeError
            `modules` is no iterable, or has something else than modules.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Remove a module, or a slice, and return it."""
        removed = self[key]
        del self[key]
        return removed

    def __iadd__(self, modules: Iterable[Any]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Modules that follow each other and look the same come once, with their number."""
        if not len(self):
            return f"{self._get_name()}()"
        lines, start = [], 0
        for text, same in groupby(map(repr, self)):
            count = len(list(same))
            label = f"({start}): " if count == 1 else f"({start}-{start + count - 1}): {count} x "
            lines.append(indented(label + text, 2))
            start += count
        return "\n  ".join([f"{self._get_name()}(", *lines]) + "\n)"
