"""Functions, generators and coroutines that run under a context manager."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Generator
from typing import Any

_Function = Callable[..., Any]

# CO_... flags of a code object; `inspect` is too slow to import for three bits.
_GENERATOR = 0x20
_COROUTINE = 0x80
_ASYNC_GENERATOR = 0x200


def is_found_by_name(decorated: Any) -> bool:
    """Does the name of a decorated function lead to what the decorator has made of it? Then that is pickled by name.

    Cloudpickle is for functions whose module other processes do not have, and takes those of a script along.
    """
    found: Any = sys.modules.get(decorated.__module__)
    if decorated.__module__ == "__main__" and not {"cloudpickle", "ray.cloudpickle"}.isdisjoint(sys.modules):
        return False
    for name in decorated.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is decorated


def decorate(make_context: Callable[[], Any], function: _Function) -> _Function:
    """`function` with a fresh context around every call; around every step when it is suspended between them."""
    if isinstance(function, type):
        _warn_of_class()
    code = getattr(function, "__code__", None)
    flags = 0 if code is None else code.co_flags
    if flags & _GENERATOR:
        return _decorate_generator(make_context, function)
    if flags & _COROUTINE:
        return _decorate_coroutine(make_context, function)
    if flags & _ASYNC_GENERATOR:
        return _decorate_async_generator(make_context, function)

    @functools.wraps(function)
    def with_context(*args: Any, **kwargs: Any) -> Any:
        with make_context():
            return function(*args, **kwargs)

    return with_context


def _warn_of_class() -> None:
    import warnings

    warnings.warn(
        "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions "
        "or methods: what takes the place of the class is a function that makes instances. Decorate `__init__` instead",
        FutureWarning,
        stacklevel=3,
    )


def _decorate_generator(make_context: Callable[[], Any], function: _Function) -> _Function:
    @functools.wraps(function)
    def with_context(*args: Any, **kwargs: Any) -> Any:
        return (yield from _steps(make_context, function(*args, **kwargs)))

    return with_context


def _decorate_coroutine(make_context: Callable[[], Any], function: _Function) -> _Function:
    @functools.wraps(function)
    async def with_context(*args: Any, **kwargs: Any) -> Any:
        return await _awaitable_steps(make_context, function(*args, **kwargs))

    return with_context


def _decorate_async_generator(make_context: Callable[[], Any], function: _Function) -> _Function:
    @functools.wraps(function)
    async def with_context(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step = generator.asend(None)
        while True:
            try:
                item = await _awaitable_steps(make_context, step)
            except StopAsyncIteration:
                return
            try:
                step = generator.asend((yield item))
            except GeneratorExit:
                await _awaitable_steps(make_context, generator.aclose())
                raise
            except BaseException as error:
                step = generator.athrow(error)

    return with_context


def _steps(make_context: Callable[[], Any], generator: Any) -> Generator[Any, Any, Any]:
    """Run `generator` with a context around each of its steps."""
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


_awaitable_steps = types.coroutine(_steps)  # a coroutine is run in steps as well
