"""Events of one kind summed up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradsmith.profiler.events import FunctionEvent

STEP = "ProfilerStep"  # name of the steps of a schedule, before the number


class FunctionEventAvg:
    """Events that have a key in common, summed.

    Attributes
    ----------
    key : str
        Name of the events; "Total" of all.
    count : int
    cpu_time_total, self_cpu_time_total : float
        Microseconds. An event inside another of the same key adds nothing to the total, which holds it already.
    cpu_memory_usage, self_cpu_memory_usage : int
        Bytes, likewise.
    flops : int or None
    input_shapes : list
        Where they are grouped by shapes.
    stack : list of str
        Where they are grouped by stacks.
    kind : str
        See `FunctionEvent`.
    failed : int
        How many of them an exception left.
    """

    def __init__(self, key: str, kind: str = "", input_shapes: Sequence[Any] = (), stack: Sequence[str] = ()) -> None:
        self.key = key
        self.kind = kind
        self.input_shapes = list(input_shapes)
        self.stack = list(stack)
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.flops: int | None = None
        self.failed = 0

    @property
    def cpu_time(self) -> float:
        """Mean of the total time, microseconds."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def is_user_annotation(self) -> bool:
        """Were they named by `record_function`?"""
        return self.kind == "user"

    def add(self, event: FunctionEvent, *, inside: bool) -> None:
        """Take one more event in; `inside` says that one of those already here is around it."""
        self.count += event.count
        self.failed += event.failed
        self.self_cpu_time_total += event.self_cpu_time_total
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        if not inside:
            self.cpu_time_total += event.cpu_time_total
            self.cpu_memory_usage += event.cpu_memory_usage
        if event.flops is not None:
            self.flops = (self.flops or 0) + event.flops

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} self_cpu_time={self.self_cpu_time_total:.3f}us "
            f"cpu_time={self.cpu_time:.3f}us input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


_Key = tuple[Any, ...]


def averages_of(events: Iterable[FunctionEvent], by_shape: bool, by_stack: int) -> list[FunctionEventAvg]:
    """One average for each name, in the order of first appearance; and for each group of shapes or stacks."""
    found: dict[_Key, FunctionEventAvg] = {}
    for event in events:
        key = _key_of(event, by_shape, by_stack)
        if key not in found:
            shapes = event.input_shapes if by_shape else ()
            found[key] = FunctionEventAvg(key[0], event.kind, shapes, event.stack[:by_stack])
        found[key].add(event, inside=_is_inside(event, key, by_shape, by_stack))
    return list(found.values())


def _key_of(event: FunctionEvent, by_shape: bool, by_stack: int) -> _Key:
    shapes = str(event.input_shapes) if by_shape else ""
    return _name_of(event), event.kind, shapes, *event.stack[:by_stack]


def _name_of(event: FunctionEvent) -> str:
    """Steps of a schedule are grouped under one name, without their numbers."""
    is_step = event.is_user_annotation and event.name.startswith(STEP)
    return f"{STEP}*" if is_step else event.name


def _is_inside(event: FunctionEvent, key: _Key, by_shape: bool, by_stack: int) -> bool:
    around = event.cpu_parent
    while around is not None:
        if around.kind == event.kind and _key_of(around, by_shape, by_stack) == key:
            return True
        around = around.cpu_parent
    return False


def total_of(rows: Sequence[FunctionEvent] | Sequence[FunctionEventAvg]) -> FunctionEventAvg:
    """All of them summed; the total times are those of what ran, so that each moment counts once."""
    total = FunctionEventAvg("Total")
    for row in rows:
        total.count += row.count
        total.failed += row.failed
        total.self_cpu_time_total += row.self_cpu_time_total
        total.self_cpu_memory_usage += row.self_cpu_memory_usage
        if row.flops is not None:
            total.flops = (total.flops or 0) + row.flops
    total.cpu_time_total, total.cpu_memory_usage = total.self_cpu_time_total, total.self_cpu_memory_usage
    return total
