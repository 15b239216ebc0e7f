"""A profile as a trace file: the Trace Event Format, which Chrome and Perfetto read.

Each event is a bar in the row of its thread ("X"). An arrow leads from each op to the node that it recorded ("s" and
"f"), and the bytes in use are a curve ("C").
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gradsmith.profiler.events import FunctionEvent
from gradsmith.profiler.options import Options
from gradsmith.version import OWN_VERSION

_CATEGORIES = {"op": "cpu_op", "node": "autograd_node", "user": "user_annotation"}


def write_trace(path: str | os.PathLike[str], events: Sequence[FunctionEvent], options: Options) -> None:
    """See `EventList.export_chrome_trace`."""
    text = json.dumps(trace_of(events, options), indent=1, default=repr)
    if os.fspath(path).endswith(".gz"):
        import gzip

        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")


def trace_of(events: Sequence[FunctionEvent], options: Options) -> dict[str, Any]:
    """Contents of the trace file."""
    return {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "gradsmith": OWN_VERSION,
        "record_shapes": int(options.record_shapes),
        "profile_memory": int(options.profile_memory),
        "with_stack": int(options.with_stack),
        "with_flops": int(options.with_flops),
        "traceEvents": list(_records(events, options, os.getpid())),
    }


def _records(events: Iterable[FunctionEvent], options: Options, process: int) -> Iterator[dict[str, Any]]:
    yield _metadata("process_name", "gradsmith", process, 0)
    threads: set[int] = set()
    for event in events:
        if event.thread not in threads:
            threads.add(event.thread)
            yield _metadata("thread_name", f"thread {event.thread}", process, event.thread)
        yield _bar(event, process)
        yield from _arrow(event, process)
        if options.profile_memory:
            yield _memory(event, process)


def _metadata(what: str, name: str, process: int, thread: int) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "ts": 0, "args": {"name": name}}


def _bar(event: FunctionEvent, process: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": _CATEGORIES[event.kind],
        "name": event.name,
        "pid": process,
        "tid": event.thread,
        "ts": event.time_range.start,
        "dur": event.cpu_time_total,
        "args": dict(_details(event)),
    }


def _details(event: FunctionEvent) -> Iterator[tuple[str, Any]]:
    yield "External id", event.id
    if event.sequence_nr >= 0:
        yield "Sequence number", event.sequence_nr
    if event.fwd_thread is not None:
        yield "Fwd thread id", event.fwd_thread
    if event.input_shapes:
        yield "Input Dims", event.input_shapes
    if event.stack:
        yield "Call stack", ";".join(reversed(event.stack))
    if event.arguments is not None:
        yield "Arguments", event.arguments
    if event.flops is not None:
        yield "Flops", event.flops
    if event.failed:
        yield "Failed", True


def _arrow(event: FunctionEvent, process: int) -> Iterator[dict[str, Any]]:
    if event.forward is None:
        return
    common = {"id": event.id, "cat": "fwdbwd", "name": "fwdbwd", "pid": process}
    yield {"ph": "s", "tid": event.forward.thread, "ts": event.forward.time_range.start, **common}
    yield {"ph": "f", "bp": "e", "tid": event.thread, "ts": event.time_range.start, **common}


def _memory(event: FunctionEvent, process: int) -> dict[str, Any]:
    return {
        "ph": "C",
        "name": "bytes in use",
        "pid": process,
        "tid": event.thread,
        "ts": event.time_range.end,
        "args": {"bytes": event.memory_after},
    }
