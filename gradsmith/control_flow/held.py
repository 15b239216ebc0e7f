"""What a function holds in variables around it: whether that changes from call to call."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from gradsmith.runtime.tensors.factories.python_data import is_tensor

PLAIN = (bool, int, float, complex, str, bytes, type(None))
MOST = 20_000  # values that are looked at: a function that holds more may have changed
SMALL = 4096  # bytes of an array that is compared by value

_package = __name__.partition(".")[0]


class Held:
    """The values in the variables around a function, in its defaults and partial arguments, and inside these.

    Numbers and strings are compared by value, all else by identity; of containers and objects also what is in them.
    """

    def __init__(self, function: Any) -> None:
        self.values: list[Any] = []
        self._seen: set[int] = set()
        self._add(function)

    def is_same(self, other: Held) -> bool:
        """Has nothing changed, as far as can be seen?"""
        return len(self.values) == len(other.values) < MOST and all(map(_is_same, self.values, other.values))

    def has_changed(self, other: Held) -> bool:
        """Has anything changed, for certain?"""
        return max(len(self.values), len(other.values)) < MOST and not self.is_same(other)

    def _add(self, value: Any) -> None:
        if len(self.values) >= MOST:
            return
        if hasattr(type(value), "__next__"):
            self.values.append(object())  # how far it has come cannot be seen
            return
        if isinstance(value, np.ndarray) and value.nbytes <= SMALL:
            self.values += [value, value.tobytes()]
            return
        self.values.append(value)
        if isinstance(value, PLAIN) or is_tensor(value) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        for part in _parts(value):
            self._add(part)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, types.FunctionType):
        if (value.__module__ or "").partition(".")[0] != _package:
            yield from _variables(value)
    elif isinstance(value, types.MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, dict):
        yield len(value)
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        yield len(value)
        yield from value
    elif not isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
        yield getattr(value, "__dict__", None)
        for owner in type(value).__mro__:
            for name in _listed(owner.__dict__.get("__slots__", ())):
                yield getattr(value, name, None)


def _variables(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            continue
    yield from (function.__defaults__, function.__kwdefaults__)
    for name in _names(function.__code__):
        yield function.__globals__.get(name)


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, PLAIN) and bool(one == other or one != one)
