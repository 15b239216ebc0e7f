"""Plots of ratios against sizes, one for each family whose rows have sizes, as SVG."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ..contestants import TITLES
from .results import Result, Results

Points = list[tuple[float, float]]
FEW = 3  # up to so many series, lines of all contestants are drawn


def curves(rows: Sequence[Result], other: str = "torch") -> dict[str, Points]:
    """Label -> (size, ratio of the medians to the other's), of each series with at least two sizes."""
    sized = [row for row in rows if row.series and row.size and row.unit == "s"]
    names = ["gradsmith"] if len({(row.series, row.threads) for row in sized}) > FEW else list(TITLES)
    found: dict[str, Points] = {}
    for row in sized:
        for name in names:
            ratio = row.ratio(other, of=name)
            if ratio is not None and name != other:
                found.setdefault(label(row, name, len(names) > 1), []).append((row.size, ratio))
    return {name: sorted(points) for name, points in found.items() if len(points) > 1}


def label(row: Result, contestant: str, several: bool) -> str:
    line = row.series.rpartition(": ")[2]
    series = f"{line}, {row.threads} threads" if row.threads > 1 else line
    return f"{series}: {TITLES[contestant]}" if several else series


def plots_of(results: Results) -> dict[str, list[Result]]:
    """Title -> the rows of a plot: those of a family, or of one kind where a family has several."""
    found: dict[str, list[Result]] = {}
    for row in results.rows:
        kind = row.series.rpartition(": ")[0]
        found.setdefault(f"{row.family}, {kind}" if kind else row.family, []).append(row)
    return found


def file_name(title: str) -> str:
    return title.replace("/", "_").replace(", ", "_").replace(" ", "_") + ".svg"


def write(results: Results, folder: Path, matplotlib: bool | None = None) -> list[Path]:
    """A file for each plot; drawn by Matplotlib where it is installed, unless said otherwise."""
    if matplotlib is None:
        matplotlib = importlib.util.find_spec("matplotlib") is not None
    if matplotlib:
        from .matplotlib_plot import draw
    else:
        from .plain_plot import draw
    written = []
    for title, rows in plots_of(results).items():
        lines = curves(rows)
        if lines:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / file_name(title)
            path.write_text(draw(title, lines), encoding="utf-8")
            written.append(path)
    return written
