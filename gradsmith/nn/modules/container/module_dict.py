"""A dict whose values are modules."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from gradsmith.nn.modules.module import Module


class ModuleDict(Module):
    """Modules by name, whose parameters belong to the module that has the dict.

    Parameters
    ----------
    modules : mapping or iterable of (str, Module), optional

    Examples
    --------
    >>> from gradsmith import nn
    >>> layers = nn.ModuleDict({"first": nn.Linear(2, 2)})
    >>> layers["last"] = nn.Tanh()
    >>> layers
    ModuleDict(
      (first): Linear(in_features=2, out_features=2, bias=True)
      (last): Tanh()
    )
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules, in place of those of the same names.

        Parameters
        ----------
        modules : mapping or iterable of (str, Module)

        Raises
        ------
        TypeError
            `modules` is no iterable, or has something else than modules by name.
        ValueError
            An element of an iterable is no pair.
        """
        for name, module in pairs_of("ModuleDict", modules):
            self[name] = module


def pairs_of(owner: str, given: Any) -> list[tuple[str, Any]]:
    """(key, value) of a mapping or of an iterable of pairs, all checked before the first is used."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return list(given.items())
    pairs = list(given)
    for number, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{number} should be Iterable; is{type(pair).__name__}")
        if len(tuple(pair)) != 2:
            raise ValueError(f"{owner} update sequence element #{number} has length {len(tuple(pair))}; 2 is required")
    return [(key, value) for key, value in pairs]
