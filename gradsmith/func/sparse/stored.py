"""The rules of products and solves with sparse matrices, whose stored values lie at known places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.func.sparse import links
from gradsmith.func.sparse.links import Link, Shape
from gradsmith.runtime.arrays.functions.algebra.sparse_matrices import structure_of

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

    from gradsmith.func.sparse.rules import Call

    Places = NDArray[np.intp]

MOST_IN_A_ROW = 256  # each of them is a link of its own


def product(call: Call) -> list[Link]:
    """A row of the result depends on the values of that row, and on the rows that these multiply."""
    rows, columns = _places(call)
    if call.saved("transposed"):
        rows, columns = columns, rows
    return _each(call, lambda edge, shape: _by_row(edge, call, shape, rows, columns))


def sampled(call: Call) -> list[Link]:
    """Element e depends on a row of each matrix."""
    places = _places(call)

    def of_edge(edge: int, shape: Shape) -> list[Link]:
        return [Link(edge, places[edge], np.repeat(np.arange(shape[0]), shape[1]))]

    return _each(call, of_edge)


def solve(call: Call) -> list[Link]:
    """Columns are solved one by one."""
    result = call.results[0]

    def of_edge(edge: int, shape: Shape) -> list[Link]:
        is_values = edge == 0
        return [_all(edge, call, shape) if is_values else links.mixed_along(edge, result, shape, frozenset([0]))]

    return _each(call, of_edge)


def _each(call: Call, of_edge: Any) -> list[Link]:
    """The links of all edges; those of batches, of which the places are not known, connect everything."""
    is_batch = any(len(shape) > 2 for shape in (*call.results, *(shape for _, shape in call.edges())))
    found: list[Link] = []
    for edge, shape in call.edges():
        found += [_all(edge, call, shape)] if is_batch else of_edge(edge, shape)
    return found


def _all(edge: int, call: Call, shape: Shape) -> Link:
    return links.everything(edge, call.size, math.prod(shape))


def _places(call: Call) -> tuple[Places, Places]:
    structure = structure_of(call.saved("structure"))
    return structure.rows, np.asarray(structure.indices)


def _by_row(edge: int, call: Call, shape: Shape, rows: Places, columns: Places) -> list[Link]:
    (height, width), *_ = call.results
    row_of_result = np.repeat(np.arange(height), width)
    if edge == 0:
        return [Link(edge, row_of_result, rows)]
    order = np.argsort(rows, kind="stable")
    rows, columns = rows[order], columns[order]
    rank = np.arange(rows.size) - np.searchsorted(rows, rows)  # among those of its row
    if rank.max(initial=0) >= MOST_IN_A_ROW:
        return [_all(edge, call, shape)]
    elements = np.arange(math.prod(shape))
    return [
        Link(edge, _keys(rows[rank == n], columns[rank == n], (height, width)), elements)
        for n in range(rank.max(initial=-1) + 1)
    ]


def _keys(rows: Places, columns: Places, result: Shape) -> Places:
    """For each element of the result the one of the input that the stored value of its row multiplies, or -1."""
    found = np.full(result, -1)
    found[rows] = columns[:, None] * result[1] + np.arange(result[1])
    return found.reshape(-1)
