"""Modes, which override all calls of a thread within a ``with`` statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from gradsmith.runtime.overrides.dispatch import enter_mode, leave_mode


class TorchFunctionMode:
    """Base class of modes: within ``with``, the mode's ``__torch_function__`` overrides all functions and methods.

    Calls made inside that method go to the mode that was entered before this one, and then to the classes of their
    arguments.

    Examples
    --------
    >>> import gradsmith as gs
    >>> class Names(gs.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(gs.overrides.resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = gs.exp(gs.zeros(2))
    torch.zeros
    torch.exp
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Compute the result of a call; each mode defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no __torch_function__")

    def __enter__(self) -> Any:
        enter_mode(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        leave_mode(self)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """The older way to say ``cls(...)``."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return func(*args, **({} if kwargs is None else kwargs))
