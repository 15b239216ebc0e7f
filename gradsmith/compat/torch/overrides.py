"""The protocol ``__torch_function__`` for functions of libraries.

Classes that are no tensors may take over functions that ask them, by `has_torch_function` and `handle_torch_function`.
gradsmith's own functions do not consult them, and `Tensor` does not define the method.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from gradsmith.names.missing import raise_missing
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
    "is_tensor_like", "wrap_torch_function",
]  # fmt: skip
__getattr__ = raise_missing(__name__)


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments would take over."""
    return any(hasattr(type(value), "__torch_function__") for value in relevant_args)


def has_torch_function_unary(argument: Any) -> bool:
    """Whether the argument would take over."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """Whether one of the arguments would take over."""
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the first argument says that takes over; those of subclasses are asked before those of their bases.

    Raises
    ------
    TypeError
        None of them does.
    """
    asked = _by_class(relevant_args)
    types = tuple(map(type, asked))
    for value in asked:
        result = value.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{public_api.__module__}.{public_api.__name__}' on types that implement "
        f"__torch_function__: {list(types)}"
    )


def _by_class(values: Iterable[Any]) -> list[Any]:
    """One value of each class that takes over, from left to right, but subclasses before their bases."""
    found: list[Any] = []
    for value in values:
        cls = type(value)
        if hasattr(cls, "__torch_function__") and cls not in map(type, found):
            places = [place for place, other in enumerate(found) if issubclass(cls, type(other))]
            found.insert(places[0] if places else len(found), value)
    return found


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """A decorator: arguments that `dispatcher` gives may take over the function."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorated


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or of a class that would take over."""
    return is_tensor(inp) or has_torch_function_unary(inp)
