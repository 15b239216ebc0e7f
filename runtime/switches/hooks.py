"""Registered hooks: tables of them, and handles that take them away again."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

_next_id = itertools.count()


class RemovableHandle:
    """Takes its hook away again: by ``remove()``, or at the end of a ``with`` block.

    The handle holds the table of hooks weakly: it keeps nothing of the graph alive. Further tables may say something of
    the hook under the same number.
    """

    def __init__(self, table: Any, *more_tables: Any) -> None:
        self.id = next(_next_id)
        while self.id in table:  # hooks that were unpickled have numbers of another process
            self.id = next(_next_id)
        self.hooks_dict_ref = weakref.ref(table)
        self.extra_dict_ref = tuple(map(weakref.ref, more_tables))

    def remove(self) -> None:
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple[int, list[Any]]:
        return self.id, [reference() for reference in (self.hooks_dict_ref, *self.extra_dict_ref)]

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self.id, tables = state
        # A table that is gone had nothing left to remove.
        first, *more = (weakref.ref(new_table() if table is None else table) for table in tables)
        self.hooks_dict_ref, self.extra_dict_ref = first, tuple(more)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class _Table(dict):  # type: ignore[type-arg]
    """Hooks by handle id, in order of registration; a plain dict cannot be referred to weakly."""

    __slots__ = ("__weakref__",)


def new_table() -> _Table:
    return _Table()


def add_hook(table: Any, hook: object, *more_tables: Any) -> RemovableHandle:
    """Append `hook`; raises TypeError when it cannot be called."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
    handle = RemovableHandle(table, *more_tables)
    table[handle.id] = hook
    return handle


class GradientCounter:
    """Base of hooks of tensors that are called, with None, for a gradient that turns out undefined, too."""

    def __call__(self, grad: object) -> None:
        raise NotImplementedError
