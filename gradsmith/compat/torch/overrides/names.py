"""Which functions are overridable, and their names."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType
from typing import Any

from gradsmith.compat.torch.overrides.classes import overridable_members
from gradsmith.compat.torch.overrides.python_functions import NAMESPACES, python_functions
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.overrides.replaced import Replaced

_IGNORED = (
    "broadcast_shapes", "get_default_dtype", "initial_seed", "is_grad_enabled", "is_tensor", "manual_seed", "seed",
    "set_default_dtype", "set_num_threads", "typename",
)  # fmt: skip


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The overridable functions, by the module or class that has them.

    Returns
    -------
    dict
        From modules, and Tensor, to lists of functions; properties are there by their ``__get__``.
    """
    of_python = set(python_functions())
    found: dict[Any, list[Callable[..., Any]]] = {}
    for module in map(importlib.import_module, NAMESPACES):
        values = [getattr(module, name) for name in module.__all__]
        found[module] = [value for value in values if _is_compiled(value) or _is_among(value, of_python)]
    found[Tensor] = [function for _, function in _of_tensors()]
    return found


def _is_among(value: Any, functions: set[Any]) -> bool:
    return inspect.isfunction(value) and value in functions


def _is_compiled(value: Any) -> bool:
    return isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, Replaced)


def _of_tensors() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Methods and properties, these by their ``__get__``, and their names."""
    for name in overridable_members():
        member: Any = getattr(Tensor, name)
        if hasattr(member, "__set__"):
            yield f"{name}.__get__", member.__get__
        else:
            yield name, member


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Public functions that are not overridable."""
    of_gradsmith = importlib.import_module("gradsmith")
    return {getattr(of_gradsmith, name) for name in _IGNORED}


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For each overridable function, one with the same parameters that returns -1."""
    found: dict[Callable[..., Any], Callable[..., Any]] = {}
    for functions in get_overridable_functions().values():
        found.update((function, _giving_minus_one(function)) for function in functions)
    return found


def _giving_minus_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def override(*args: Any, **kwargs: Any) -> int:
        return -1

    with contextlib.suppress(TypeError, ValueError):  # of a few C functions
        override.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return override


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The name of a function as programs write it, ``"torch.Tensor.add"``; None if it is no public one."""
    return _names().get(f)


@functools.cache
def _names() -> dict[Callable[..., Any], str]:
    """Of the names that a function has, the one that it calls itself by."""
    names: dict[Callable[..., Any], str] = {}
    for owner, functions in get_overridable_functions().items():
        for name, function in _of_tensors() if owner is Tensor else ((f.__name__, f) for f in functions):
            found = f"torch{_prefix(owner)}.{name}"
            names[function] = found if name == function.__name__ else names.get(function, found)
    return names


def _prefix(owner: Any) -> str:
    return ".Tensor" if owner is Tensor else owner.__name__.removeprefix("gradsmith")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether it is a method of tensors, or the ``__get__`` of a property."""
    return any(function == func for function in get_overridable_functions()[Tensor])
