"""Context managers and decorators that switch recording on and off in the calling thread."""

from __future__ import annotations

import functools

from gradsmith.runtime.grad_mode import is_grad_enabled, swap

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

_GENERATOR = 0x20  # CO_GENERATOR of a code object; `inspect` is too slow to import for one bit


class _GradMode:
    """Base of the modes: a context manager that is also a decorator.

    One instance may be entered many times, nested or from a recursive function, so that what to restore is a
    stack. A decorated generator has the mode only while it runs, never while it is suspended.
    """

    enabled: bool

    def __init__(self) -> None:
        self._restore: list[bool] = []

    def __enter__(self) -> None:
        self._restore.append(swap(self.enabled))

    def __exit__(self, *exc_info: object) -> None:
        swap(self._restore.pop())

    def clone(self) -> _GradMode:
        return type(self)()

    def __call__(self, function):
        if isinstance(function, type):
            raise TypeError(
                f"{type(self).__name__} decorates functions; decorate the methods of "
                f"class {function.__name__} one by one"
            )
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _GENERATOR:
            return _decorate_generator(self.clone, function)

        @functools.wraps(function)
        def with_mode(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return with_mode


def _decorate_generator(make_mode, function):
    @functools.wraps(function)
    def with_mode(*args, **kwargs):
        generator = function(*args, **kwargs)
        resume, argument = generator.send, None
        while True:
            try:
                with make_mode():
                    item = resume(argument)
            except StopIteration as stop:
                return stop.value
            try:
                resume, argument = generator.send, (yield item)
            except GeneratorExit:
                with make_mode():
                    generator.close()
                raise
            except BaseException as error:
                resume, argument = generator.throw, error

    return with_mode


class _DecoratorMode(_GradMode):
    """A mode that may be written without parentheses: ``@no_grad``."""

    def __new__(cls, function=None):
        self = super().__new__(cls)
        if function is None:
            return self
        self.__init__()
        return self(function)


class no_grad(_DecoratorMode):
    """Turn recording off: results do not require grad, whatever the inputs do.

    Examples
    --------
    >>> x = gradsmith.ones(3, requires_grad=True)
    >>> with gradsmith.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    enabled = False


class enable_grad(_DecoratorMode):
    """Turn recording on, inside a ``no_grad`` for example."""

    enabled = True


class set_grad_enabled(_GradMode):
    """Turn recording on or off: at once when called, and back at the end when used in a ``with``.

    Parameters
    ----------
    mode : bool
        True records, False does not.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.enabled = bool(mode)
        self._before = swap(self.enabled)

    def __enter__(self) -> None:
        # The call has switched already: what the block restores is the mode before the call.
        swap(self.enabled)
        self._restore.append(self._before)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.enabled)

    def __call__(self, function):
        swap(self._before)
        return super().__call__(function)
