"""Equality of trees whose nodes are frozen dataclasses."""

from __future__ import annotations

from dataclasses import fields
from functools import cache, cached_property
from typing import Any


class HashedOnce:
    """Nodes are equal when their classes and compared fields are; each computes its hash once.

    The hash that a dataclass makes for itself walks all of the tree below a node each time, and so looking
    up every node of a nested tree takes quadratic time. Classes of nodes are dataclasses with ``eq=False``.
    """

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, self._compared()))

    def _compared(self) -> tuple[object, ...]:
        kind: Any = type(self)  # mypy does not take it for hashable
        return tuple(getattr(self, name) for name in _compared_names(kind))


@cache
def _compared_names(kind: Any) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(kind) if entry.compare)
