"""Functions of the tensors that they capture: what a function finds in variables around it becomes an argument."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree


class Lifted:
    """A function, and the tensors that variables around it, its defaults and partial arguments hold.

    Parameters
    ----------
    function : callable or tree of callables
    is_wanted : callable
        Which tensors are meant.

    Attributes
    ----------
    tensors : list of Tensor
    hidden : list of str
        What else its variables hold that has tensors which require grad: modules, and global variables.
    """

    def __init__(self, function: Any, is_wanted: Callable[[Any], bool]) -> None:
        self.function, self.is_wanted = function, is_wanted
        self.tensors: list[Any] = []
        self.hidden: list[str] = []
        self._places: dict[int, int] = {}
        self._rebuilt(function, None, {})

    def bound(self, tensors: list[Any]) -> Any:
        """The function, or the tree of them, with other tensors in their places."""
        return self._rebuilt(self.function, tensors, {})

    def _rebuilt(self, value: Any, tensors: list[Any] | None, known: dict[int, Any]) -> Any:
        """A value with other tensors; without these, they are found."""
        if is_tensor(value):
            return self._exchanged(value, tensors) if self.is_wanted(value) else value
        if id(value) in known:
            return known[id(value)]
        if isinstance(value, types.FunctionType):
            return self._function(value, tensors, known)
        if isinstance(value, types.MethodType):
            known[id(value)] = value
            self._rebuilt(value.__self__, tensors, known)
            return types.MethodType(self._rebuilt(value.__func__, tensors, known), value.__self__)
        if isinstance(value, partial):
            known[id(value)] = value
            parts = [self._rebuilt(part, tensors, known) for part in (value.func, *value.args)]
            named = {name: self._rebuilt(part, tensors, known) for name, part in value.keywords.items()}
            return partial(parts[0], *parts[1:], **named)
        if isinstance(value, (tuple, list, dict)):
            return self._tree(value, tensors, known)
        if tensors is None and has_parameters(value):
            self.hidden.append(f"a module {type(value).__name__}")
        return value

    def _exchanged(self, tensor: Any, tensors: list[Any] | None) -> Any:
        place = self._places.setdefault(id(tensor), len(self.tensors))
        if place == len(self.tensors):
            self.tensors.append(tensor)
        return tensor if tensors is None else tensors[place]

    def _function(self, value: types.FunctionType, tensors: list[Any] | None, known: dict[int, Any]) -> Any:
        cells = value.__closure__ or ()
        new_cells = tuple([types.CellType() for _ in cells])
        made = types.FunctionType(value.__code__, value.__globals__, value.__name__, None, new_cells)
        known[id(value)] = made  # it may be found in its own cells
        if tensors is None:
            self.hidden += [f"the variable {name}" for name in _names(value.__code__) if _is_hidden(value, name)]
        made.__defaults__ = self._rebuilt(value.__defaults__, tensors, known)
        made.__kwdefaults__ = self._rebuilt(value.__kwdefaults__, tensors, known)
        made.__dict__.update(value.__dict__)
        for cell, new in zip(cells, new_cells):
            try:
                new.cell_contents = self._rebuilt(cell.cell_contents, tensors, known)
            except ValueError:  # not set yet
                continue
        return made

    def _tree(self, value: Any, tensors: list[Any] | None, known: dict[int, Any]) -> Any:
        known[id(value)] = value  # one that holds itself
        leaves, spec = pytree.flatten(value)
        if spec.cls is None or not any(is_tensor(leaf) or callable(leaf) for leaf in leaves):
            return value
        return spec.unflatten([self._rebuilt(leaf, tensors, known) for leaf in leaves])


def has_parameters(value: Any) -> bool:
    """Is it a module with tensors that require grad?"""
    if isinstance(value, type) or not isinstance(getattr(value, "_parameters", None), dict):
        return False
    return any(one.requires_grad for one in value.parameters())


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_hidden(function: types.FunctionType, name: str) -> bool:
    value = function.__globals__.get(name)
    return (is_tensor(value) and value.requires_grad) or has_parameters(value)
