"""Registered hooks: tables of them, and handles that take them away again."""

from __future__ import annotations

import itertools
import weakref

_next_id = itertools.count()


class RemovableHandle:
    """Takes its hook away again: by ``remove()``, or at the end of a ``with`` block.

    The handle holds the table of hooks weakly: it keeps nothing of the graph alive.
    """

    def __init__(self, table: _Table) -> None:
        self.id = next(_next_id)
        self._table = weakref.ref(table)

    def remove(self) -> None:
        table = self._table()
        if table is not None:
            table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class _Table(dict):  # type: ignore[type-arg]
    """Hooks by handle id, in order of registration; a plain dict cannot be referred to weakly."""

    __slots__ = ("__weakref__",)


def new_table() -> _Table:
    return _Table()


def add_hook(table: _Table, hook: object) -> RemovableHandle:
    """Append `hook`; raises TypeError when it cannot be called."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, got {type(hook).__name__}")
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


class GradientCounter:
    """Base of hooks of tensors that are called, with None, for a gradient that turns out undefined, too."""

    def __call__(self, grad: object) -> None:
        raise NotImplementedError
