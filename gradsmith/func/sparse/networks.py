"""How layers depend on their inputs: the groups of normalizations, scores of classes, heads of attention."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.func.sparse import links
from gradsmith.func.sparse.links import Link, Shape

if TYPE_CHECKING:
    from gradsmith.func.sparse.rules import Call

Labels = list[Hashable]


def groups(call: Call) -> list[Link]:
    """Elements of a group, which extends along `dim`, mix."""
    dims = call.saved("dim") or ()
    ndim = max(map(len, call.results + tuple(shape for _, shape in call.edges())))
    mixed = {dim % ndim - ndim for dim in dims} or set(range(-ndim, 0))
    return [
        _of_result(
            links.by_labels(edge, result, _apart(result, mixed, "to"), shape, _apart(shape, mixed, "from")), n, call
        )
        for edge, shape in call.edges()
        for n, result in enumerate(call.results)
    ]


def _apart(shape: Shape, mixed: set[int], side: str) -> Labels:
    """Dimensions as in broadcasting; those that mix are not the same on both sides."""
    return [(side, dim) if dim in mixed else dim for dim in range(-len(shape), 0)]


def classes(call: Call) -> list[Link]:
    """Scores of classes, along dimension 1 or the only one, and numbers for each place."""
    ndim = max(map(len, call.results + tuple(shape for _, shape in call.edges())))
    place: Labels = [0, *range(2, ndim)] if ndim > 1 else []
    whole: Labels = list(range(ndim)) if ndim > 1 else [0]
    return [
        _of_result(
            links.by_labels(edge, result, _fitting(result, whole, place), shape, _fitting(shape, whole, place)), n, call
        )
        for edge, shape in call.edges()
        for n, result in enumerate(call.results)
    ]


def _fitting(shape: Shape, whole: Labels, place: Labels) -> Labels:
    return whole if len(shape) == len(whole) else place


# Of the operands and results of attention: a row for each query (l) or key (s).
_INPUTS = {"Attention": ("l.", "s.", "s.", "ls"), "AttentionBackward": ("l.", "l.", "s.", "s.", "ls", "l", "l")}
_RESULTS = {"Attention": ("l.", "l"), "AttentionBackward": ("l.", "s.", "s.")}


def heads(call: Call) -> list[Link]:
    """Heads that broadcast, with a row for each query or key."""
    name = type(call.node).__name__.removesuffix("Backward0")
    return [
        _of_result(links.by_labels(edge, result, _rows(result, own, "to"), shape, _rows(shape, given, "from")), n, call)
        for edge, shape in call.edges()
        for given in (_INPUTS[name][edge],)
        for n, (result, own) in enumerate(zip(call.results, _RESULTS[name]))
    ]


def resized(call: Call) -> list[Link]:
    """A place sees a rectangle of an image: one link for each of its elements."""
    ((edge, given),) = call.edges()
    size = math.prod(given[-2:])
    images = np.arange(math.prod(given[:-2]))[:, None, None] * size
    down, across = (_elements_seen(taps, length) for taps, length in zip(call.saved("taps"), given[-2:]))
    return [
        Link(
            edge,
            np.where((row < 0) | (column < 0), -1, images + row * given[-1] + column).reshape(-1),
            np.arange(math.prod(given)),
        )
        for row in down[:, :, None]
        for column in across[:, None, :]
    ]


def _elements_seen(taps: Any, length: int) -> Any:
    """For each tap, and each place, the element that it is; -1 where the place has no such tap."""
    if taps is None:
        return np.arange(length)[None]
    spans = np.asarray(taps[1])
    found = spans[:, 0] + np.arange(np.diff(spans).max())[:, None]
    return np.where(found < spans[:, 1], found, -1)


def _rows(shape: Shape, core: str, side: str) -> Labels:
    before: Labels = [*range(len(core) - len(shape), 0)]
    return before + [side if label == "." else label for label in core]


def _of_result(link: Link, number: int, call: Call) -> Link:
    """A link of one result as one of all of them."""
    sizes = [math.prod(shape) for shape in call.results]
    return link._replace(results=np.concatenate(list(_keys(link.results, sizes, number))))


def _keys(own: Any, sizes: list[int], number: int) -> Iterable[Any]:
    for n, size in enumerate(sizes):
        yield own if n == number else np.full(size, -1, np.intp)
