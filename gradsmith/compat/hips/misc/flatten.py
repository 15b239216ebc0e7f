"""Trees of arrays as one vector, and back."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

from gradsmith.compat.hips import numpy as np
from gradsmith.compat.hips.boxes import getval

__all__ = ["flatten", "flatten_func"]


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A vector of all numbers in tuples, lists and dicts, and the way back; of dicts, sorted by their keys."""
    leaves: list[Any] = []
    rebuilt = _taken_apart(value, leaves)
    sizes = [int(np.size(getval(leaf))) for leaf in leaves]
    vector = np.concatenate([np.ravel(leaf) for leaf in leaves]) if leaves else np.array([])

    def unflatten(vector: Any) -> Any:
        ends = np.cumsum([0, *sizes])
        return rebuilt(iter([vector[first:last] for first, last in itertools.pairwise(ends)]))

    return vector, unflatten


def _taken_apart(value: Any, leaves: list[Any]) -> Callable[[Any], Any]:
    """Puts the leaves on a list; gives a function from the parts of a vector to a tree like this one."""
    if isinstance(value, dict):
        parts = {key: _taken_apart(value[key], leaves) for key in sorted(value)}
        return lambda pieces: _in_order(value, {key: part(pieces) for key, part in parts.items()})
    if isinstance(value, (list, tuple)):
        kind, items = type(value), [_taken_apart(item, leaves) for item in value]
        if hasattr(value, "_fields"):
            return lambda pieces: kind(*[part(pieces) for part in items])
        return lambda pieces: kind(part(pieces) for part in items)
    leaves.append(value)
    shape = np.shape(getval(value))
    return lambda pieces: np.reshape(next(pieces), shape) if shape else next(pieces)[0]


def _in_order(like: Any, items: Any) -> Any:
    """The items in the order of a dict's keys, and in a dict of its class."""
    filled = copy.copy(like)
    for key in like:
        filled[key] = items[key]
    return filled


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """A function of trees as one of vectors, the way from vectors to trees, and the example as a vector."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
