"""The variables of a compiled function itself."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from gradsmith.compiler.guards import key_of_value
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.runtime.programs.reads import MISSING, Read


class CapturedNames:
    """The variables of a function that are not its own: those of functions around it, its module's, and its `self`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.owners, inner = _behind(function)
        while hasattr(inner, "__wrapped__") and not isinstance(inner, types.FunctionType):
            inner = inner.__wrapped__
        self.owners += [
            *(getattr(inner, "__defaults__", None) or ()),
            *(getattr(inner, "__kwdefaults__", None) or {}).values(),
        ]
        self.function = inner
        code = getattr(inner, "__code__", None)
        self.cells = tuple(getattr(inner, "__closure__", None) or ())
        self.variables = getattr(inner, "__globals__", {})
        self.names = tuple(name for name in dict.fromkeys(_names(code)) if name in self.variables) if code else ()

    def key(self) -> tuple[Any, ...]:
        found = list(map(key_of_value, self.owners))
        for cell in self.cells:
            try:
                found.append(_key_of_variable(cell.cell_contents))
            except ValueError:  # not set yet
                found.append(None)
        found += [_key_of_variable(self.variables.get(name)) for name in self.names]
        return tuple(found)

    def roots(self) -> list[Any]:
        """Where the search for what the function can reach begins."""
        return [self.function, *self.owners]

    def reads(self) -> list[Read]:
        """Its variables as they are, if they are part of the key."""
        found = [Read(self.variables, name, self.variables.get(name, MISSING)) for name in self.names]
        for cell in self.cells:
            with contextlib.suppress(ValueError):  # not set yet
                found.append(Read(cell, None, cell.cell_contents))
        return [read for read in found if not _is_followed(read.value)]


def _is_followed(value: Any) -> bool:
    """Tensors and counts, which a program compares or changes where it depends on them; see values.py."""
    return isinstance(value, Tensor) or type(value) is int


def _key_of_variable(value: Any) -> Any:
    return type(value) if _is_followed(value) else key_of_value(value)


def _behind(function: Any) -> tuple[list[Any], Any]:
    """The function that is called, and the objects that it is called with: `self`, and what a partial holds."""
    owners = []
    while isinstance(function, functools.partial):
        owners += [*function.args, *function.keywords.values()]
        function = function.func
    call = inspect.getattr_static(type(function), "__call__", None)
    if (
        isinstance(call, types.FunctionType)
        and not hasattr(function, "__wrapped__")
        and not isinstance(function, Module)
    ):
        return [function, *owners], call
    return [getattr(function, "__self__", None), *owners], getattr(function, "__func__", function)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
