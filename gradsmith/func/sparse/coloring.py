"""Colourings: which columns or rows of a sparse matrix one product can compute together.

Sets of colours are the bits of Python's integers, so that each entry of the matrix costs one operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import


@dataclass(frozen=True)
class Coloring:
    """A colour for each row or column, -1 for empty ones, which need no product."""

    colors: NDArray[np.int32]
    count: int


def row_coloring(matrix: Any) -> Coloring:
    """Rows of one colour have no column in common, so that the sum of them shows each entry.

    Greedy, in natural order and, unless that is best already, from the longest row to the shortest.
    """
    lengths = np.diff(matrix.indptr)
    least = int(np.bincount(matrix.indices, minlength=1).max())  # the rows that share a column all differ
    found = _greedy_rows(matrix, np.arange(lengths.size))
    return found if found.count == least else _better(found, _greedy_rows(matrix, _longest_first(lengths)))


def _longest_first(lengths: NDArray[Any]) -> NDArray[np.intp]:
    return np.argsort(-lengths, kind="stable")


def _better(one: Coloring, other: Coloring) -> Coloring:
    return one if one.count <= other.count else other


def _greedy_rows(matrix: Any, order: Iterable[Any]) -> Coloring:
    starts, columns = matrix.indptr.tolist(), matrix.indices.tolist()
    used = [0] * matrix.shape[1]  # by the rows that have an entry in this column
    colors = [-1] * matrix.shape[0]
    for row in map(int, order):
        own = columns[starts[row] : starts[row + 1]]
        forbidden = 0
        for column in own:
            forbidden |= used[column]
        if own:
            colors[row] = _first_free(forbidden)
            bit = 1 << colors[row]
            for column in own:
                used[column] |= bit
    return _coloring(colors)


def _first_free(forbidden: int) -> int:
    return (~forbidden & (forbidden + 1)).bit_length() - 1


def _coloring(colors: list[int]) -> Coloring:
    found = np.array(colors, np.int32)
    return Coloring(found, int(found.max(initial=-1)) + 1)


def star_coloring(matrix: Any) -> Coloring:
    """For a symmetric matrix: neighbours differ, and so do two of any four vertices in a path from the other two.

    Then of each pair of entries (i, j), (j, i) one is alone in its row among the columns of its colour. Greedy, from
    the vertex with the most neighbours, and in natural order.
    """
    lengths = np.diff(matrix.indptr)
    orders = (_longest_first(lengths), np.arange(lengths.size))
    return _better(*[StarColoring(matrix).colored(order) for order in orders])


class StarColoring:
    """The greedy algorithm, with the sets of colours that it forbids kept up to date at each vertex."""

    def __init__(self, matrix: Any) -> None:
        size = matrix.shape[0]
        starts, columns = matrix.indptr.tolist(), matrix.indices.tolist()
        self.alone = [starts[v] == starts[v + 1] for v in range(size)]
        self.neighbors = [[w for w in columns[starts[v] : starts[v + 1]] if w != v] for v in range(size)]
        self.colors = [-1] * size
        self.seen = [0] * size  # colours of the neighbours
        self.first: list[dict[int, int]] = [{} for _ in range(size)]  # of each such colour the first neighbour
        self.twice = [0] * size  # colours that more than one neighbour has
        self.blocked = [0] * size  # colours of neighbours that have another neighbour of this vertex's colour

    def colored(self, order: Iterable[Any]) -> Coloring:
        for v in map(int, order):
            if not self.alone[v]:
                self._color(v, _first_free(self._forbidden(v)))
        return _coloring(self.colors)

    def _forbidden(self, v: int) -> int:
        forbidden = 0
        for w in self.neighbors[v]:
            color = self.colors[w]
            forbidden |= self.seen[w] if color < 0 else 1 << color | self.blocked[w]
        return forbidden

    def _color(self, v: int, color: int) -> None:
        self.colors[v] = color
        bit = 1 << color
        for w in self.neighbors[v]:
            if self.seen[w] & bit:
                self._repeat(w, v, bit)
            else:
                self.seen[w] |= bit
                self.first[w][color] = v
            if self.colors[w] >= 0 and self.twice[v] >> self.colors[w] & 1:
                self.blocked[w] |= bit

    def _repeat(self, w: int, v: int, bit: int) -> None:
        """`v` is another neighbour of `w` with its colour: neither may get a neighbour of the colour of `w`."""
        if self.colors[w] >= 0:
            own = 1 << self.colors[w]
            self.blocked[self.first[w][bit.bit_length() - 1]] |= own
            self.blocked[v] |= own
        self.twice[w] |= bit
