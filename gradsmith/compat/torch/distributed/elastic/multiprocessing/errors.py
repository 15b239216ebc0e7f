"""``torch.distributed.elastic.multiprocessing.errors``: the mark of a program's main function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["record"]

F = TypeVar("F", bound=Callable[..., Any])


def record(fn: F, error_handler: Any = None) -> F:
    """The function as it is: what it raises is shown by the rank that raises it, and MPI ends the others."""
    return fn
