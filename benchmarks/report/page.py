"""The tables of docs/performance.md: their numbers are written anew, their words are kept.

A line belongs to a row of the results when its first cell is the row's name. What a cell holds follows from the head of
its column: "time", "must" and "aim" of PyTorch, the name of a contestant for a ratio to it, or such a name with "over
objective"; other columns, such as what limits a row, are written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..contestants import TITLES
from ..measure.fresh import ROOT
from ..measure.timing import readable
from . import markdown, plots
from .results import Result, Results

PAGE = ROOT / "docs" / "performance.md"
NAMES = {title: name for name, title in TITLES.items()}
OVER = " over objective"


def refresh(found: Results) -> None:
    """Write the numbers of the page, and the plots that it shows."""
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    plots.write(found, PAGE.with_suffix(""), matplotlib=False)  # the same picture on every machine


def refreshed(text: str, found: Results) -> str:
    rows = {row.title: row for row in found.rows if row.samples.get("gradsmith")}
    head: list[str] = []
    lines = []
    for line in text.splitlines():
        cells = cells_of(line)
        if not cells:
            head = []
        elif not head:
            head = cells
        elif cells[0] in rows:
            line = "| " + " | ".join(written(head, cells, rows[cells[0]], found.rows)) + " |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def cells_of(line: str) -> list[str]:
    """The cells of a line of a table; none elsewhere."""
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def written(head: Sequence[str], cells: Sequence[str], row: Result, rows: Sequence[Result]) -> Iterator[str]:
    for column, cell in zip(head, cells):
        yield cell if (new := number_of(column, row, rows)) is None else new


def number_of(column: str, row: Result, rows: Sequence[Result]) -> str | None:
    """What belongs into a column; None where words stand."""
    if column == "time":
        return readable(row.median(), row.unit)
    if column in ("must", "aim"):
        return bar_of(row.must if column == "must" else row.aim)
    if column.endswith(OVER):
        objective = markdown.objective_of(row, rows)
        return markdown.over(row, objective, NAMES[column.removesuffix(OVER)]) if objective else ""
    return markdown.quotient(row, NAMES[column]).rstrip("!") if column in NAMES else None


def bar_of(text: str) -> str:
    """The bar of the ratio to PyTorch, as it is written."""
    return next((part.removeprefix("torch ") for part in text.split(", ") if part.startswith("torch ")), "")
