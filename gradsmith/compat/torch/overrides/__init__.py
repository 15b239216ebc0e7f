"""The protocol ``__torch_function__``, with which classes override what functions do with their instances.

A subclass of `Tensor` overrides every function and method that gets one of its instances, or a list or tuple of them.
By default it converts the results to itself. Any other class that defines the method can override functions too, and a
`TorchFunctionMode` overrides all calls within a ``with`` statement.

A program without such classes and modes pays nothing: functions and methods only look for overrides once there is one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from gradsmith.compat.torch.overrides.classes import (
    make_all_members_overridable,
    make_class_overridable,
    make_methods_overridable,
    make_operators_overridable,
)
from gradsmith.compat.torch.overrides.modes import BaseTorchFunctionMode, TorchFunctionMode
from gradsmith.compat.torch.overrides.names import (
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    is_tensor_method_or_property,
    resolve_name,
)
from gradsmith.compat.torch.overrides.python_functions import make_python_functions_overridable
from gradsmith.names.missing import raise_missing
from gradsmith.runtime.overrides.dispatch import dispatch_call, overloaded_args, plain_results
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
    """Whether the class of one of the arguments overrides functions."""
    return bool(overloaded_args(relevant_args))


def has_torch_function_unary(argument: Any) -> bool:
    """Whether the class of the argument overrides functions."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """Whether the class of one of the arguments overrides functions."""
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Dispatch a call to the classes of its arguments, subclasses before their bases.

    Parameters
    ----------
    public_api : callable
        The function that was called.
    relevant_args : iterable
        The arguments whose classes may override it.
    *args, **kwargs
        All arguments.

    Raises
    ------
    TypeError
        Every override returned NotImplemented.
    """
    return dispatch_call(public_api, relevant_args, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """A decorator that makes a function overridable by the arguments that `dispatcher` returns."""

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
    """Whether it is a tensor, or of a class that overrides functions."""
    return is_tensor(inp) or hasattr(type(inp), "__torch_function__")


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """The functions whose results `Tensor.__torch_function__` leaves as they are."""
    return plain_results()


def _make_everything_overridable() -> None:
    make_methods_overridable()
    make_python_functions_overridable()


upcalls.fill(
    make_class_overridable=make_class_overridable,
    make_everything_overridable=_make_everything_overridable,
    make_all_members_overridable=functools.cache(make_all_members_overridable),
    make_operators_overridable=make_operators_overridable,
)
