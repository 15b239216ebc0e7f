"""Finds what a function can reach through the names in its code, directly or through the functions it calls."""

from __future__ import annotations

import functools
import random
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradsmith.compiler.captured import spaces
from gradsmith.compiler.captured.spaces import ASKING, MOST_TENSORS, Attributes, Items, Names, Space
from gradsmith.compiler.guards import PLAIN
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.nn.modules.module.global_hooks import GLOBAL
from gradsmith.nn.modules.module.registry import HOOK_TABLES

# Methods that are called without being named, and where decorators keep what they have been given.
_ALWAYS = [f"__{name}__" for name in (
    "call", "getattr", "getitem", "len", "iter", "next", "contains", "bool", "enter", "exit", "neg", "add", "radd",
    "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "matmul", "rmatmul", "lt", "le", "gt", "ge", "wrapped",
)]  # fmt: skip
_ALWAYS += ["forward", "backward", "jvp", "vmap", "setup_context"]  # of modules and custom functions
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__")  # of classes that are named
_LIBRARIES = frozenset({"gradsmith", "numpy", "scipy"})  # what their objects hold is read in each run
_STANDARD = _LIBRARIES | (sys.stdlib_module_names - {"__main__"})
_TRANSFORMS = ("gradsmith.func.", "gradsmith.compiler.")  # whose objects hold the functions that they call
_MOST = 1000


class Reach:
    """The functions, objects, classes and modules that a function can reach, nearest first.

    Only the names in the code are known. An attribute counts as read if its name occurs anywhere.

    Attributes
    ----------
    words : set of str
        Names and strings in the code of all functions found.
    spaces : list of Space
        Where their variables, attributes and items lie.
    modules : list of Module
        Those of networks that are not parts of others.
    codes : list of code
        Of the functions of the user's.
    iterators : list
        That go on, which leaves no trace in what can be looked at. Those of the user's classes keep it in attributes.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.words = set(_ALWAYS)
        self.spaces: list[Space] = []
        self.modules: list[Module] = []
        self.codes: list[types.CodeType] = []
        self.iterators: list[Any] = []
        self._seen: dict[int, Any] = {}
        self._foreign: set[int] = set()  # of what is seen: what the package keeps for itself
        self._waiting: deque[Any] = deque()
        self._looked_into = 0
        self._attributes: dict[type, Attributes] = {}
        self._methods: dict[str, list[types.CodeType]] = {}  # of layers of the package
        self._come_to([*spaces.generators_of_all(), *roots])
        self._spread()

    def _spread(self) -> None:
        """Search until nothing new turns up: each function may add names, by which more is found."""
        known = (-1, -1)
        while known != (known := (len(self.spaces), len(self.words))):
            for space in self.spaces[:]:
                self._come_to([value for _, value in space.named(self.words)], space.is_foreign)
            for name in self._methods.keys() & self.words:
                for code in self._methods.pop(name):
                    self.words.update(set(words_of(code)) - ASKING)
            while self._waiting and self._looked_into < _MOST:
                self._looked_into += 1
                self._look_into(self._waiting.popleft())

    def _come_to(self, values: Iterable[Any], are_foreign: bool = False) -> None:
        for value in values:
            if type(value) not in PLAIN and id(value) not in self._seen and not isinstance(value, Tensor):
                self._seen[id(value)] = value
                self._waiting.append(value)
                if are_foreign and isinstance(value, (list, tuple, dict, set, deque, np.ndarray)):
                    self._foreign.add(id(value))

    def _look_into(self, value: Any) -> None:
        n_known = len(self.spaces)
        self._look_by_kind(value)
        for space in self.spaces[n_known:]:
            space.is_foreign = id(value) in self._foreign

    def _look_by_kind(self, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            if _is_of_user(value):
                self.spaces.append(Names(value.__dict__, f"module {value.__name__}"))
        elif isinstance(value, type):
            self._class(value)
            self._come_to(getattr(value, name, None) for name in _CONSTRUCTORS)
        elif isinstance(value, (list, tuple, dict)):
            self._container(value)
        elif isinstance(value, (set, deque, np.ndarray)):
            self.spaces.append(spaces.Contents(value, f"a {type(value).__name__}"))
        elif isinstance(value, (random.Random, np.random.Generator, np.random.RandomState)):
            self.spaces.append(spaces.Draws(value, f"a {type(value).__name__}"))
        elif isinstance(value, Module):
            self._module(value)
        elif hasattr(type(value), "__next__") and not _is_of_user(type(value)):
            self.iterators.append(value)
        else:
            self._come_to(_behind(value))
            self._object(value)

    def _function(self, function: types.FunctionType) -> None:
        self._come_to([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()])
        place = f"{function.__name__}()"
        variables = zip(function.__closure__ or (), function.__code__.co_freevars)
        own = [*(spaces.Cell(cell, place, word) for cell, word in variables), Names(function.__dict__, place)]
        if not _is_of_user(function):  # nor do its variables change
            self._come_to([value for space in own for _, value in space.named(self.words)], are_foreign=True)
            return
        self.spaces += own
        self.codes += codes_in(function.__code__)
        words = set(words_of(function.__code__))
        self.words |= words
        module = function.__globals__
        self.spaces.append(spaces.Variables(module, f"module {function.__module__}", words))
        package = module.get("__package__")
        imported = [sys.modules.get(name) for word in words for name in (word, f"{package}.{word}")]
        self._come_to(module for module in imported if module is not None)

    def _container(self, value: Any) -> None:
        """With attributes of its own, if its class is derived from list, tuple or dict."""
        if len(value) <= MOST_TENSORS:
            self.spaces.append(Items(value, f"a {type(value).__name__}"))
        if type(value) not in (list, tuple, dict):
            self._object(value)

    def _module(self, module: Module) -> None:
        self.modules.append(module)
        self._come_to(GLOBAL.calls)
        for one in module.modules():
            self._seen[id(one)] = one
            self._object(one)
            self.spaces.append(spaces.Buffers(one._buffers, f"a {type(one).__name__}"))
            self._come_to(hook for table in HOOK_TABLES for hook in getattr(one, table).values())

    def _object(self, value: Any) -> None:
        cls = type(value)
        if not isinstance(value, Module) and cls.__module__.partition(".")[0] in _LIBRARIES:
            return
        self._class(cls)
        owner = f"a {cls.__name__}"
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict) and cls.__module__ == "collections":  # whose methods are not looked into
            self.spaces.append(Items(attributes, owner))
        elif isinstance(attributes, dict):
            kind = spaces.OfModule if isinstance(value, Module) else Names
            self.spaces.append(kind(attributes, owner, self._attributes[cls]))
        if any("__slots__" in vars(base) for base in cls.__mro__):
            self.spaces.append(spaces.Slots(value, owner))

    def _class(self, cls: type) -> None:
        if cls in self._attributes:
            return
        own = [base for base in cls.__mro__ if _is_of_user(base)]
        self._attributes[cls] = attributes = Attributes(cls, f"class {cls.__name__}", own)
        self.spaces.append(attributes)
        if type(cls) is not type:
            self._class(type(cls))
        if issubclass(cls, Module):
            for base in cls.__mro__:
                for name, code in _methods_of(base) if base not in own else ():
                    self._methods.setdefault(name, []).append(code)


def words_of(code: types.CodeType) -> Iterator[str]:
    """The names in a function, and its strings, which may be keys."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from words_of(constant)
        elif isinstance(constant, str):
            yield constant


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Of a function, and of those that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def _methods_of(cls: type) -> Iterator[tuple[str, types.CodeType]]:
    for name, member in vars(cls).items():
        function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
        if isinstance(function, types.FunctionType):
            yield name, function.__code__


def _behind(value: Any) -> list[Any]:
    """What a method, a property, a partial or a decorated function calls, and what it is called with."""
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, property):
        return [value.fget]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, functools.cached_property):
        return [value.func]
    names = getattr(value, "__dict__", None)
    if not isinstance(names, dict):
        return []
    if type(value).__module__.startswith(_TRANSFORMS):
        return [one for one in names.values() if callable(one) or type(one).__module__.startswith(_TRANSFORMS)]
    return [names["__wrapped__"]] if "__wrapped__" in names else []


def _is_of_user(value: Any) -> bool:
    """Is it the user's own, not the package's or the standard library's, which do not change?

    What `exec` makes in a dict without `__name__` is of no module.
    """
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return not isinstance(name, str) or name.partition(".")[0] not in _STANDARD
