"""Modules one after the other."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gradsmith.nn.modules.container.places import insertion_place, numbered, place_of
from gradsmith.nn.modules.module import Module
from gradsmith.runtime.tensors.module_calls import call_in_turn

if TYPE_CHECKING:
    from typing_extensions import Self


class Container(Module):
    """Modules by name, which do nothing. Deprecated: `ModuleDict`, or a class of one's own, says more."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in nn.Module. Subclass that "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Calls modules one after the other, each with what the one before returned.

    Parameters
    ----------
    *args : Module
        Or one OrderedDict of modules by name.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import nn
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> model(gs.ones(5, 2)).shape
    (5, 1)
    >>> model[:2]
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        first = args[0] if len(args) == 1 else None
        for name, module in (first if isinstance(first, OrderedDict) else numbered(args)).items():
            self.add_module(name, module)

    forward = call_in_turn

    # ---- what a list can do

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, idx: Any) -> Any:
        """The module of a place; of a slice, a Sequential of the modules with their names."""
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._name(idx)]

    def __setitem__(self, idx: int, module: Any) -> None:
        setattr(self, self._name(idx), module)

    def __delitem__(self, idx: Any) -> None:
        """Remove a module or a slice; those that remain are numbered anew."""
        for name in list(self._modules)[idx] if isinstance(idx, slice) else [self._name(idx)]:
            delattr(self, name)
        self._modules = numbered(self._modules.values())

    def _name(self, index: Any) -> str:
        return list(self._modules)[place_of(index, len(self))]

    def append(self, module: Any) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> Self:
        """Add a module before a place; those behind it are numbered anew.

        Raises
        ------
        AssertionError
            `module` is no module.
        IndexError
            There is no such place.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        place = insertion_place(index, len(self))
        modules = [*self._modules.values()]
        modules.insert(place, module)
        self._modules = {**dict(list(self._modules.items())[:place]), **_numbered_from(place, modules[place:])}
        return self

    def extend(self, sequential: Iterable[Any]) -> Self:
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Remove a module, or a slice, and return it."""
        removed = self[key]
        del self[key]
        return removed

    def __add__(self, other: Any) -> Sequential:
        _require_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        _require_sequential(other)
        return self.extend(list(other))

    def __mul__(self, other: int) -> Sequential:
        """The modules themselves, `other` times: they share their parameters."""
        self._require_count(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        self._require_count(other)
        return self.extend(list(self) * (other - 1))

    def _require_count(self, count: Any) -> None:
        if not isinstance(count, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(count)}")
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {type(self)}")


def _numbered_from(start: int, modules: Iterable[Any]) -> dict[str, Any]:
    return {str(place): module for place, module in enumerate(modules, start)}


def _require_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
