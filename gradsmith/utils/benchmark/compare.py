"""`Compare`: measurements as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradsmith.utils.benchmark.measurement import Measurement, select_unit, unit_to_english

__all__ = ["Compare"]


class Compare:
    """A table of measurements: a row for each name and number of threads, a column for each description.

    Parameters
    ----------
    results : iterable of Measurement
        Those of the same are merged.
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trims = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        Raises
        ------
        ValueError
            For anything else.
        """
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Show times with three digits only."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted: the table is plain text."""

    def highlight_warnings(self) -> None:
        """Accepted: the table shows medians only."""

    def print(self) -> None:
        """Print the table."""
        print(self)

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = dict.fromkeys(result.label for result in merged)
        return "\n".join(self._table(label, [one for one in merged if one.label == label]) for label in labels)

    def _table(self, label: str | None, results: Sequence[Measurement]) -> str:
        columns = list(dict.fromkeys(one.description or "" for one in results))
        unit, size = select_unit(min(one.median for one in results))
        rows: dict[tuple[int, str], dict[str, str]] = {}
        for one in results:
            name = " ".join(part for part in (f"({one.env})" if one.env else "", one.sub_label or one.stmt) if part)
            rows.setdefault((one.num_threads, name), {})[one.description or ""] = self._text(one.median / size)
        lines = [["", *columns]]
        for threads in sorted({threads for threads, _ in rows}):
            lines.append([f"{threads} thread{'s' * (threads > 1)}:"])
            lines += [
                [f"  {name}", *(found.get(column, "") for column in columns)]
                for (its_threads, name), found in rows.items()
                if its_threads == threads
            ]
        return _framed(f"[ {label or ''} ]", lines, f"Times are in {unit_to_english(unit)}s ({unit}).")

    def _text(self, value: float) -> str:
        return f"{float(f'{value:.3g}'):g}" if self._trims else f"{value:.1f}"


def _framed(title: str, lines: Sequence[Sequence[str]], note: str) -> str:
    """Cells below each other, with lines between their columns."""
    full = [line for line in lines if len(line) > 1]
    widths = [max(len(cell) for cell in column) for column in zip(*full)]
    widths[0] = max(widths[0], *(len(line[0]) for line in lines))
    texts = [
        "  |  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))])
        if len(line) > 1
        else line[0]
        for line in lines
    ]
    whole = max(map(len, texts))
    return "\n".join([title.center(whole, "-"), *texts, "", note])
