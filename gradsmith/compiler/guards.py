"""What a program takes for granted, as a key: calls with equal keys may run the same program."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.snapshots import Snapshot
from gradsmith.runtime.switches.grad_mode import is_grad_enabled, is_inference_mode_enabled

# Methods that are called without being named.
_WITHOUT_NAME = [f"__{name}__" for name in (
    "call", "getitem", "len", "iter", "next", "contains", "bool", "enter", "exit", "neg", "add", "radd", "sub", "rsub",
    "mul", "rmul", "truediv", "rtruediv", "pow", "matmul", "rmatmul", "lt", "le", "gt", "ge",
)]  # fmt: skip
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def key_of_leaves(leaves: list[Any]) -> tuple[Any, ...]:
    """Of tensors dtype, shape, layout, whether they require grad, and which share memory; all else as it is."""
    key: list[Any] = []
    owners: dict[int, tuple[int, Any, Any]] = {}  # owner of memory -> the first leaf that shows some of it, its array
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            key.append(key_of_value(leaf))
            continue
        array = array_behind(leaf)
        flags = array.flags
        layout = None if flags.c_contiguous else array.strides
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        place, first, shown = owners.setdefault(id(owner), (len(key), leaf, array))
        shared = None if place == len(key) else (place, array.ctypes.data - shown.ctypes.data, leaf is first)
        key.append((array.dtype, array.shape, layout, leaf.requires_grad, leaf.is_leaf, flags.writeable, shared))
    return tuple(key)


def is_apart(leaves: list[Any]) -> bool:
    """Do no two tensors share memory, nor is one given twice?"""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    return all(part[-1] is None for part in key_of_leaves(tensors))


def objects_among(leaves: list[Any]) -> list[Any]:
    """Those arguments that a key has the identity of, and not what they hold: the `self` of a method, say."""
    return [leaf for leaf in leaves if not isinstance(leaf, (Tensor, *PLAIN, np.ndarray, np.generic, np.dtype))]


def key_of_value(value: Any) -> Any:
    """Equal for values that a program may take for the same."""
    if isinstance(value, float):
        return (float, value, np.copysign(1.0, value))
    if isinstance(value, PLAIN):
        return (type(value), value)
    if isinstance(value, Module):
        return (Same(value), *_state_of(value))
    if isinstance(value, (tuple, frozenset)) and all(isinstance(item, PLAIN) for item in value):
        return (type(value), value)
    if isinstance(value, (np.dtype, np.generic, slice, type, range)):
        return (type(value), repr(value))
    return Same(value)


def _state_of(module: Module) -> Iterator[Any]:
    """Whether it is being trained, and which tensors it has, with the modules inside it."""
    yield module.training
    yield from map(Same, module._parameters.values())
    yield from map(Same, module._buffers.values())
    for child in module._modules.values():
        if child is not None:
            yield from _state_of(child)


class Same:
    """Equal to another one of the same object, which it keeps alive: no other object can get its address."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of_modes() -> tuple[Any, ...]:
    """The switches of the thread that ops look at."""
    return (is_grad_enabled(), is_inference_mode_enabled(), get_default_dtype())


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
        self.code = code = getattr(inner, "__code__", None)
        self.cells = tuple(getattr(inner, "__closure__", None) or ())
        self.variables = getattr(inner, "__globals__", {})
        self.names = tuple(name for name in dict.fromkeys(_names(code)) if name in self.variables) if code else ()

    def key(self) -> tuple[Any, ...]:
        found = list(map(key_of_value, self.owners))
        for cell in self.cells:
            try:
                found.append(key_of_value(cell.cell_contents))
            except ValueError:  # not set yet
                found.append(None)
        found += [key_of_value(self.variables.get(name)) for name in self.names]
        return tuple(found)

    def objects(self) -> list[Any]:
        """What they hold."""
        found = list(self.owners)
        for cell in self.cells:
            with contextlib.suppress(ValueError):  # not set yet
                found.append(cell.cell_contents)
        return [*found, *[self.variables.get(name) for name in self.names]]

    def looked_up(self, objects: list[Any]) -> set[str]:
        """Names of attributes and items that the function may look up, itself or in methods of some objects."""
        owners = [one for owner in objects for one in (owner.modules() if isinstance(owner, Module) else [owner])]
        classes = {type(owner) for owner in owners}
        members = _members(classes)
        waiting = [one.__code__ for one in objects if isinstance(one, types.FunctionType)]
        waiting += [self.code] if self.code is not None else []
        waiting += members.get("forward", ())
        unnamed = _members({one for one in classes if not one.__module__.startswith("gradsmith.")})
        waiting += [code for name in _WITHOUT_NAME for code in unnamed.get(name, ())]
        found: set[str] = set()
        while waiting:
            new = set(_words(waiting.pop())) - found
            found |= new
            waiting += [code for name in new for code in members.get(name, ())]
        return found

    def watched(self, given: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The same for `Entry`: cells and variables with what they hold, and what the modules among that hold.

        `given` are objects that the function has as arguments.
        """
        held = [*self.owners, *given]
        cells, variables = [], []
        for cell in self.cells:
            try:
                cells.append((cell, cell.cell_contents))
            except ValueError:
                continue
            held.append(cell.cell_contents)
        for name in self.names:
            variables.append((self.variables, name, self.variables.get(name)))
            held.append(self.variables.get(name))
        return cells, variables, [Snapshot(one) for one in held if isinstance(one, Module)]


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


def _words(code: types.CodeType) -> Iterator[str]:
    """The names in a function, and its strings, which may be keys."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _words(constant)
        elif isinstance(constant, str):
            yield constant


def _members(classes: set[type]) -> dict[str, list[types.CodeType]]:
    """The functions of classes by name, properties too."""
    found: dict[str, list[types.CodeType]] = {}
    for one in {base for cls in classes for base in cls.__mro__}:
        for name, member in vars(one).items():
            function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
            if isinstance(function, types.FunctionType):
                found.setdefault(name, []).append(function.__code__)
    return found
