"""Stacks in the format of flame graphs: ``outermost;...;innermost;op number``, a line for each event."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gradsmith.profiler.events import FunctionEvent
from gradsmith.profiler.options import Options

METRICS = ("self_cpu_time_total", "self_cpu_memory_usage")
_SEPARATORS = str.maketrans(" ;\t\n", "____")


def write_stacks(path: str | os.PathLike[str], events: Iterable[FunctionEvent], options: Options, metric: str) -> None:
    """See `EventList.export_stacks`."""
    if metric not in METRICS:
        raise ValueError(f"export_stacks(): metric should be one of {', '.join(METRICS)}, got {metric!r}")
    if not options.with_stack:
        raise ValueError("export_stacks(): stacks were not recorded; ask for them by profile(with_stack=True)")
    Path(path).write_text("".join(_lines(events, metric)), encoding="utf-8")


def _lines(events: Iterable[FunctionEvent], metric: str) -> Iterable[str]:
    for event in events:
        number = int(getattr(event, metric))
        if number > 0:
            frames = (frame.translate(_SEPARATORS) for frame in (*reversed(event.stack), event.name))
            yield f"{';'.join(frames)} {number}\n"
