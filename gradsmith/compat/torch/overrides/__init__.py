"""The protocol ``__torch_function__``: classes say themselves what functions do with their instances.

A class over `Tensor` is asked by each function and method that gets one of its instances, or a list or tuple of them;
unless it says something else, results are of that class. Any other class with the method is asked by the functions too.
`TorchFunctionMode` is asked for all calls within a ``with`` statement.

A program without such classes and modes pays nothing for it: functions and methods ask from then on when the first one
is met.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from gradsmith.compat.torch.overrides.classes import ask_class, ask_in_all_members, ask_in_methods, ask_in_operators
from gradsmith.compat.torch.overrides.modes import BaseTorchFunctionMode, TorchFunctionMode
from gradsmith.compat.torch.overrides.names import (
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    is_tensor_method_or_property,
    resolve_name,
)
from gradsmith.compat.torch.overrides.python_functions import ask_in_python_functions
from gradsmith.names.missing import raise_missing
from gradsmith.runtime.overrides.taken_over import asked, handed, plain_results
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "get_default_nowrap_functions", "get_ignored_functions",
    "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
    "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property",
    "resolve_name", "wrap_torch_function",
]  # fmt: skip
__getattr__ = raise_missing(__name__)


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments would take a call over."""
    return bool(asked(relevant_args))


def has_torch_function_unary(argument: Any) -> bool:
    """Whether the argument would take a call over."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """Whether one of the arguments would take a call over."""
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the first argument gives that takes the call over; subclasses are asked first.

    Parameters
    ----------
    public_api : callable
        The function that was called.
    relevant_args : iterable
        The arguments that are asked.
    *args, **kwargs
        All arguments.

    Raises
    ------
    TypeError
        None of them takes it over.
    """
    return handed(public_api, relevant_args, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """A decorator: the arguments that `dispatcher` gives may take calls of the function over."""

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
    """Whether it is a tensor, or of a class that takes calls over."""
    return is_tensor(inp) or hasattr(type(inp), "__torch_function__")


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """The functions whose results `Tensor.__torch_function__` leaves as they are."""
    return plain_results()


def _ask_everywhere() -> None:
    ask_in_methods()
    ask_in_python_functions()


upcalls.fill(
    ask_class=ask_class,
    ask_everywhere=_ask_everywhere,
    ask_in_all_members=functools.cache(ask_in_all_members),
    ask_in_operators=ask_in_operators,
)
