"""The names that a name depends on, where each stands for a text that reads others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def reached(names: Iterable[str], reads: Mapping[str, Iterable[str]]) -> set[str]:
    """Those names that are keys of `reads`, and the ones that they lead to."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in reads and name not in found:
            found.add(name)
            waiting.extend(reads[name])
    return found
