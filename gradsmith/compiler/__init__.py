"""``torch.compile`` and the marks for its compiler: functions run as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gradsmith.names.missing import missing_attribute

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "reset",
]  # fmt: skip

T = TypeVar("T")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """The function or module itself, or a decorator that gives it back.

    Nothing is compiled: ops are compiled already, and the program between them runs as Python. Programs that ask for
    compilation give the same results without.

    Parameters
    ----------
    model : callable, optional
        Without it, a decorator.
    fullgraph, dynamic, backend, mode, options, disable : optional
        Without effect.

    Raises
    ------
    RuntimeError
        When both `mode` and `options` are given, as in PyTorch.

    Examples
    --------
    >>> import gradsmith as gs
    >>> @gs.compile
    ... def f(x):
    ...     return x.sin() ** 2
    >>> f(gs.zeros(2))
    tensor([0., 0.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    return model if model is not None else _unchanged


def _unchanged(model: T) -> T:
    return model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself, which is never compiled; without one, a decorator."""
    return fn if fn is not None else _unchanged


def allow_in_graph(fn: T) -> T:
    """The function itself."""
    return fn


def assume_constant_result(fn: T) -> T:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    """Whether the function is being compiled: never."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether the function is being compiled: never."""
    return False


def is_exporting() -> bool:
    """Whether the function is being exported: never."""
    return False


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Names of compilers: none."""
    return []


def reset() -> None:
    """Nothing: no compiled functions are kept."""


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no graphs of calls."""


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
