"""Which elements of a result depend on which elements of an input.

All relations between the two have one form: each element of the result has a key, each element of the input has one,
and those whose keys are equal are linked. Of an elementwise op the keys number the elements, of a sum over rows they
number the rows, and where everything depends on everything they are all zero. An element with the key -1 is linked to
none.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

Shape = tuple[int, ...]
Labels = Sequence[Hashable]


class Link(NamedTuple):
    """How the results of a node depend on its input number `edge`.

    The results of a node with several of them count as one, flattened and one after the other.
    """

    edge: int
    results: NDArray[np.intp]
    inputs: NDArray[np.intp]


def everything(edge: int, results: int, inputs: int) -> Link:
    """Each of so many elements of the results depends on each of so many elements of the input."""
    return Link(edge, np.zeros(results, np.intp), np.zeros(inputs, np.intp))


def element_by_element(edge: int, count: int) -> Link:
    """Each of `count` elements depends on the one in the same place."""
    keys = np.arange(count)
    return Link(edge, keys, keys)


def by_labels(edge: int, result: Shape, result_labels: Labels, given: Shape, given_labels: Labels) -> Link:
    """Elements depend on each other where the coordinates along dimensions of the same label are equal.

    A dimension whose label, or whose length, is not found on the other side is free: broadcast or contracted.
    """
    lengths = dict(zip(given_labels, given))
    shared = [label for label, length in zip(result_labels, result) if lengths.get(label) == length]
    sizes = dict(zip(result_labels, result))
    keys = np.arange(math.prod(sizes[label] for label in shared)).reshape([sizes[label] for label in shared])
    return Link(edge, _spread(keys, shared, result, result_labels), _spread(keys, shared, given, given_labels))


def _spread(keys: NDArray[np.intp], shared: Labels, shape: Shape, labels: Labels) -> NDArray[np.intp]:
    """The keys of all elements of a tensor, whose dimensions may come in another order and have others between."""
    own = [label for label in labels if label in shared]
    ordered = keys.transpose([list(shared).index(label) for label in own])
    sizes = [length if label in shared else 1 for label, length in zip(labels, shape)]
    return np.broadcast_to(ordered.reshape(sizes), shape).reshape(-1)


def broadcast(edge: int, result: Shape, given: Shape) -> Link:
    """An elementwise op, whose inputs are broadcast to the shape of the result."""
    return by_labels(edge, result, range(-len(result), 0), given, range(-len(given), 0))


def mixed_along(edge: int, result: Shape, given: Shape, dims: frozenset[int]) -> Link:
    """The elements along `dims` of the input mix; the result still has these dimensions, or has them no more."""
    given_labels: list[Hashable] = [("mixed", dim) if dim in dims else dim for dim in range(len(given))]
    kept = range(len(given)) if len(result) == len(given) else [dim for dim in range(len(given)) if dim not in dims]
    return by_labels(edge, result, list(kept), given, given_labels)


def within(link: Link, edge: int, places: NDArray[np.intp], size: int) -> Link:
    """A link of a part of a result as one of the whole, whose element number ``places[i]`` is the part's i-th."""
    return Link(edge, _scattered(link.results, places, size), link.inputs)


def _scattered(keys: NDArray[np.intp], places: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    found = np.full(size, -1)
    found[places] = keys
    return found


def within_both(link: Link, edge: int, places: NDArray[np.intp], size: int) -> Link:
    """The same where the input is that part of a whole as well."""
    return within(link, edge, places, size)._replace(inputs=_scattered(link.inputs, places, size))


def outside(edge: int, places: NDArray[np.intp], size: int) -> Link:
    """Each element but those at `places` depends on the one in the same place."""
    keys = np.arange(size)
    keys[places] = -1
    return Link(edge, keys, keys)
