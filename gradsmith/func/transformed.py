"""Transformed functions, which pickle as the transform, its options and the original function."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from gradsmith.runtime.switches.decorators import is_found_by_name

Function = Callable[..., Any]


class Transformed(functools.partial[Any]):
    """A function that a transform has made of another.

    `functools.partial` calls it, which costs less than a method written in Python; `functools.update_wrapper` has given
    it the name of the function. `made_by` makes it anew, in another process for example.
    """

    made_by: Callable[[Function], Any]
    __wrapped__: Function
    __qualname__: str

    def __reduce__(self) -> Any:
        return self.__qualname__ if is_found_by_name(self) else (self.made_by, (self.__wrapped__,))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        transform = getattr(self.made_by, "func", self.made_by)
        return f"<{transform.__name__} of {self.__wrapped__!r}>"


def transformed(made_by: Callable[[Function], Any], func: Function) -> Callable[[Function], Any]:
    """Decorator of what a transform makes of `func`; ``made_by(func)`` makes it again."""

    def decorate(function: Function) -> Transformed:
        made = Transformed(function)
        functools.update_wrapper(made, func)
        made.made_by = made_by
        return made

    return decorate


def refuse_to_pickle(transform: str) -> TypeError:
    """The error for what belongs to one call of a function: its graph stays in its process."""
    return TypeError(
        f"cannot pickle the function that {transform}() has given: it has the recorded graph of one call. Call "
        f"{transform}() in the process that needs it, with the function and its arguments"
    )
