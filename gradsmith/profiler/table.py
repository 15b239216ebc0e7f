"""A profile as a table of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradsmith.profiler.averages import FunctionEventAvg
from gradsmith.profiler.events import FunctionEvent
from gradsmith.profiler.options import Options

Row = FunctionEvent | FunctionEventAvg

SORT_KEYS = (
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "count",
    "flops",
)
_GAP = "  "


class _Column(NamedTuple):
    title: str
    cell: Callable[[Any], str]
    widest: int = 20
    left: bool = False  # aligned


def table_of(
    rows: Sequence[Row],
    options: Options,
    *,
    sort_by: str | None = None,
    row_limit: int = 100,
    header: str | None = None,
    top_level_events_only: bool = False,
    max_name_column_width: int = 55,
    max_shapes_column_width: int = 80,
    max_src_column_width: int = 75,
) -> str:
    """See `EventList.table`."""
    total = sum(row.self_cpu_time_total for row in rows)
    shown = _chosen(rows, sort_by, row_limit, top_level_events_only)
    columns = _columns(shown, options, total, max_name_column_width, max_shapes_column_width, max_src_column_width)
    lines = [] if header is None else [header]
    lines += _grid(columns, shown)
    lines.append(f"Self CPU time total: {duration(total)}")
    return "\n".join(lines) + "\n"


def _chosen(rows: Sequence[Row], sort_by: str | None, row_limit: int, top_level_only: bool) -> list[Row]:
    found = [row for row in rows if not top_level_only or getattr(row, "cpu_parent", None) is None]
    if sort_by is not None:
        if sort_by not in SORT_KEYS:
            raise AttributeError(f"table(): cannot sort by {sort_by!r}; there are {', '.join(SORT_KEYS)}")
        found.sort(key=lambda row: getattr(row, sort_by) or 0, reverse=True)
    return found if row_limit < 0 else found[:row_limit]


def _columns(rows: Sequence[Row], options: Options, total: float, name: int, shapes: int, source: int) -> list[_Column]:
    def share(part: float) -> str:
        return f"{100 * part / total:.2f}%" if total else "--"

    columns = [
        _Column("Name", lambda row: str(row.key), name, left=True),
        _Column("Self CPU %", lambda row: share(row.self_cpu_time_total)),
        _Column("Self CPU", lambda row: duration(row.self_cpu_time_total)),
        _Column("CPU total %", lambda row: share(row.cpu_time_total)),
        _Column("CPU total", lambda row: duration(row.cpu_time_total)),
        _Column("CPU time avg", lambda row: duration(row.cpu_time)),
    ]
    if options.profile_memory:
        columns.append(_Column("CPU Mem", lambda row: size(row.cpu_memory_usage)))
        columns.append(_Column("Self CPU Mem", lambda row: size(row.self_cpu_memory_usage)))
    columns.append(_Column("# of Calls", lambda row: str(row.count)))
    if any(row.input_shapes for row in rows):
        columns.append(_Column("Input Shapes", lambda row: _shapes(row.input_shapes), shapes))
    if any(row.stack for row in rows):
        columns.append(_Column("Source Location", lambda row: row.stack[0] if row.stack else "", source, left=True))
    if options.with_flops:
        columns.append(_Column("Total FLOPs", lambda row: "--" if row.flops is None else count(row.flops)))
    return columns


def _grid(columns: Sequence[_Column], rows: Sequence[Row]) -> list[str]:
    cells = [[_shortened(column.cell(row), column.widest) for column in columns] for row in rows]
    widths = [max(len(text) for text in texts) for texts in zip([c.title for c in columns], *cells)]
    rule = _GAP.join("-" * width for width in widths)
    lines = [rule, _line([c.title for c in columns], columns, widths), rule]
    return [*lines, *(_line(row, columns, widths) for row in cells), rule]


def _line(texts: Sequence[str], columns: Sequence[_Column], widths: Sequence[int]) -> str:
    padded = (t.ljust(w) if column.left else t.rjust(w) for t, column, w in zip(texts, columns, widths))
    return _GAP.join(padded).rstrip()


def _shortened(text: str, width: int) -> str:
    """Cut to `width`; no limit when that is not positive."""
    return text if width <= 0 or len(text) <= width else text[: max(width - 3, 0)] + "..."


def _shapes(shapes: Sequence[Any]) -> str:
    return "[" + ", ".join(_shapes(s) if isinstance(s, list) else str(list(s)) for s in shapes) + "]"


# ---- numbers with units


def duration(microseconds: float) -> str:
    """``1.234ms`` and so on."""
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if abs(microseconds) >= scale:
            return f"{microseconds / scale:.3f}{unit}"
    return f"{microseconds:.3f}us"


def size(nbytes: int) -> str:
    """``1.50 KB`` and so on."""
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(nbytes) >= scale:
            return f"{nbytes / scale:.2f} {unit}"
    return f"{nbytes} B"


def count(number: int) -> str:
    """``1.50 M`` and so on."""
    for unit, scale in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("K", 10**3)):
        if number >= scale:
            return f"{number / scale:.2f} {unit}"
    return str(number)
