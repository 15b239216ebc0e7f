"""Functions and generators that run under a context manager."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_Function = Callable[..., Any]

_GENERATOR = 0x20  # CO_GENERATOR of a code object; `inspect` is too slow to import for one bit


def decorate(make_context: Callable[[], Any], function: _Function) -> _Function:
    """`function` with a fresh context around every call; around every step when it is a generator."""
    if isinstance(function, type):
        raise TypeError(f"a mode decorates functions; decorate the methods of class {function.__name__} one by one")
    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & _GENERATOR:
        return _decorate_generator(make_context, function)

    @functools.wraps(function)
    def with_context(*args: Any, **kwargs: Any) -> Any:
        with make_context():
            return function(*args, **kwargs)

    return with_context


def _decorate_generator(make_context: Callable[[], Any], function: _Function) -> _Function:
    @functools.wraps(function)
    def with_context(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, argument = generator.send, None
        while True:
            try:
                with make_context():
                    item = resume(argument)
            except StopIteration as stop:
                return stop.value
            try:
                resume, argument = generator.send, (yield item)
            except GeneratorExit:
                with make_context():
                    generator.close()
                raise
            except BaseException as error:
                resume, argument = generator.throw, error

    return with_context
