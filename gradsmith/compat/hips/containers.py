"""Boxes in lists, tuples, dicts, dataclasses, and these in each other.

A place for a box is kept by an empty one: what is left of a container without its boxes is a container of empty boxes,
which is filled again later.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradsmith.compat.hips.boxes import ArrayBox
from gradsmith.utils import pytree


def mapped_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """The container with `function` of each leaf; classes derived from lists, tuples and dicts count as these."""
    leaves, spec = pytree.flatten(tree)
    return spec.unflatten([_of_derived(function, leaf) for leaf in leaves])


def _of_derived(function: Callable[[Any], Any], leaf: Any) -> Any:
    """`function` of a leaf, or of those in an object that trees see no node in, as its class is derived from one."""
    if isinstance(leaf, dict):
        filled = copy.copy(leaf)
        for key, item in leaf.items():
            filled[key] = mapped_leaves(function, item)
        return filled
    if isinstance(leaf, (list, tuple)):
        return type(leaf)(mapped_leaves(function, item) for item in leaf)
    return function(leaf)


def boxes_in(tree: Any) -> list[ArrayBox]:
    """All boxes, from left to right."""
    found: list[ArrayBox] = []
    mapped_leaves(lambda leaf: found.append(leaf) if isinstance(leaf, ArrayBox) else None, tree)
    return found


def emptied(tree: Any) -> Any:
    """The container with empty boxes in place of boxes."""
    return mapped_leaves(lambda leaf: ArrayBox(None) if isinstance(leaf, ArrayBox) else leaf, tree)


def filled(tree: Any, values: Iterable[Any]) -> Any:
    """The container with values in place of boxes."""
    following = iter(values)
    return mapped_leaves(lambda leaf: next(following) if isinstance(leaf, ArrayBox) else leaf, tree)


def filled_among_zeros(tree: Any, values: Iterable[Any]) -> Any:
    """The same for a change of the container, whose numbers and arrays beside the boxes do not change."""
    following = iter(values)
    return mapped_leaves(lambda leaf: next(following) if isinstance(leaf, ArrayBox) else _still(leaf), tree)


def _still(leaf: Any) -> Any:
    return leaf * 0 if isinstance(leaf, (int, float, complex)) or hasattr(leaf, "dtype") else leaf


def beside(tree: Any, other: Any) -> Iterator[Any]:
    """What `other` has where `tree` has boxes. None stands for zeros; an array serves for a list of its rows."""
    if isinstance(tree, ArrayBox):
        yield other
    elif other is None:
        yield from [None] * len(boxes_in(tree))
    else:
        for item, part in _pairs(tree, other):
            yield from beside(item, part)


def _pairs(tree: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(tree, dict):
        yield from ((item, other[key]) for key, item in tree.items() if boxes_in(item))
    elif isinstance(tree, (list, tuple)):
        yield from ((item, other[n]) for n, item in enumerate(tree) if boxes_in(item))
    else:
        leaves, spec = pytree.flatten(tree)
        if spec.cls is not None:
            yield from zip(leaves, pytree.leaves_like(spec, other))


def added(a: Any, b: Any) -> Any:
    """The sum of two containers, number by number."""
    if isinstance(b, dict):
        return {key: added(a[key], item) for key, item in b.items()}
    return [added(x, y) for x, y in zip(a, b)] if isinstance(b, (list, tuple)) else a + b
