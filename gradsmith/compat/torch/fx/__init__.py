"""``torch.fx``: graphs of modules. There are none here, so that what marks functions for them does nothing.

`gradsmith.graph` shows what a computation recorded, and `gradsmith.compile` traces functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from gradsmith.names.missing import missing_attribute

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "wrap"]

F = TypeVar("F", bound=Callable[..., Any])


class _OfGraphs:
    """For imports, `isinstance` and as a base class only: there are no graphs, so nothing is one of these."""

    def __new__(cls, *args: Any, **named: Any) -> NoReturn:
        raise NotImplementedError(
            f"torch.fx.{cls.__name__} has no counterpart in gradsmith: functions run as Python and are not rewritten. "
            "gradsmith.compile traces them, and gradsmith.func transforms them by running them"
        )


class Graph(_OfGraphs):
    """What a traced function does."""


class GraphModule(_OfGraphs):
    """A module that was made from a graph."""


class Interpreter(_OfGraphs):
    """What runs a graph node by node."""


class Node(_OfGraphs):
    """A step of a graph."""


class Proxy(_OfGraphs):
    """A value while a function is traced."""


class Tracer(_OfGraphs):
    """What traces a function."""


class Transformer(_OfGraphs):
    """What makes a graph of another."""


def wrap(fn_or_name: F) -> F:
    """The function as it is, or the name of one: nothing is traced, so that nothing needs to be kept from it."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module(f"{__name__}.{name}")
    raise missing_attribute(__name__, name)
