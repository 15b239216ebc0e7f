"""Tensors as notebooks show them: a line that says what a tensor is, and a table of some of its elements.

At most `EDGE` rows and columns at either end are read, so that a tensor of any size costs the same.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.graph.indexed_rows import indexed_rows
from gradsmith.runtime.graph.printing import history, number_style
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.graph.tensor_api import is_batched

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

EDGE = 4
GAP = "…"


def tensor_html(tensor: Any) -> str:
    """What ``tensor._repr_html_()`` gives; names are escaped, and its length is bounded."""
    return f"<div>{_heading(tensor)}{_preview(tensor)}</div>"


def _heading(tensor: Any) -> str:
    facts = [f"{list(tensor.shape)}", str(tensor.dtype), *_whereabouts(tensor), *history(tensor)]
    words = " · ".join(escape(fact) for fact in facts)
    return f"<div><strong>{escape(type(tensor).__name__)}</strong> <code>{words}</code></div>"


def _whereabouts(tensor: Any) -> list[str]:
    """Where its data is, if not in an array of its own. An indexed gradient gets one when its array is asked for."""
    rows = indexed_rows(tensor)
    if rows is not None:
        return [f"nnz={len(rows.values)}"]
    device = ["device='meta'"] if tensor.is_meta else []
    return [*device, "batched"] if is_batched(array_behind(tensor)) else device


def _preview(tensor: Any) -> str:
    if indexed_rows(tensor) is not None or has_no_data(array_behind(tensor)):
        return ""
    array = tensor.numpy(force=True)
    if array.size == 0:
        return "<div><em>no elements</em></div>"
    labels, rows = _rows_shown(array)
    columns = _ends(rows.shape[1])
    texts = _texts(rows[:, [column for column in columns if column is not None]], None in columns)
    lines = [_line(label, "td", row) for label, row in zip(labels, texts)]
    if len(labels) < _count(array):
        lines.insert(EDGE, _line(GAP, "td", [GAP] * len(columns)))
    if array.ndim:
        lines.insert(0, _line("", "th", [GAP if column is None else str(column) for column in columns]))
    return f"<table>{''.join(lines)}</table>"


def _count(array: Array) -> int:
    """Rows of an array whose dimensions before the last count them."""
    return math.prod(array.shape[:-1])


def _rows_shown(array: Array) -> tuple[list[str], Array]:
    """The first and the last rows, each with the indices that lead to it. Nothing else of the array is read."""
    if array.ndim < 2:
        return [""], array.reshape(1, -1)
    shape = array.shape[:-1]
    numbers = [number for number in _ends(_count(array)) if number is not None]
    places = [tuple(int(index) for index in np.unravel_index(number, shape)) for number in numbers]
    return [", ".join(map(str, place)) for place in places], np.stack([array[place] for place in places])


def _ends(length: int) -> list[int | None]:
    """Indices of what is shown of a dimension, with None for what is between."""
    if length <= 2 * EDGE:
        return list(range(length))
    return [*range(EDGE), None, *range(length - EDGE, length)]


def _texts(shown: Array, is_cut: bool) -> list[list[str]]:
    style = number_style(shown)
    texts = [[style.write(value).strip() for value in row] for row in shown.tolist()]
    return [[*row[:EDGE], GAP, *row[EDGE:]] for row in texts] if is_cut else texts


def _line(label: str, cell: str, texts: list[str]) -> str:
    """One line of the table: the indices of a row, and its elements."""
    return f"<tr><th>{escape(label)}</th>{''.join(f'<{cell}>{escape(text)}</{cell}>' for text in texts)}</tr>"
