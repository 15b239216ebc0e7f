"""``torch.fx``: graphs of modules. There are none here, so that what marks functions for them does nothing.

`gradsmith.graph` shows what a computation recorded, and `gradsmith.compile` traces functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from gradsmith.names.missing import missing_attribute

__all__ = ["GraphModule", "wrap"]

F = TypeVar("F", bound=Callable[..., Any])


class GraphModule:
    """For `isinstance` only: no module is one."""

    def __new__(cls, *args: Any, **named: Any) -> NoReturn:
        raise NotImplementedError(
            "torch.fx.GraphModule has no counterpart in gradsmith: functions run as Python and are not rewritten. "
            "gradsmith.compile traces them, and gradsmith.func transforms them by running them"
        )


def wrap(fn_or_name: F) -> F:
    """The function as it is, or the name of one: nothing is traced, so that nothing needs to be kept from it."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module(f"{__name__}.{name}")
    raise missing_attribute(__name__, name)
