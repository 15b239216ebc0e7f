"""Events of a profile: one for each op, node and named stretch of user code that ran."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from gradsmith.profiler.flops import flops_of
from gradsmith.runtime.observers.recorder import Span


class Interval(NamedTuple):
    """Microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Length of the interval."""
        return self.end - self.start


class FunctionEvent:
    """Something that ran once.

    Attributes
    ----------
    id : int
        Position in the order in which the events began.
    name, key : str
        Both are the name.
    kind : str
        "op", "node" (one of the graph, in a backward) or "user" (see `record_function`).
    time_range : Interval
    thread : int
        Identifier of the thread, as `threading.get_ident` gives it.
    cpu_parent : FunctionEvent or None
        What it ran inside.
    cpu_children : list of FunctionEvent
        What ran directly inside it.
    sequence_nr : int
        Of the node that an op recorded, or that ran; -1 for none.
    forward : FunctionEvent or None
        Of a node: the op that recorded it, when the profile has it.
    fwd_thread : int or None
        Thread of that op.
    input_shapes : list
        Shapes of the operands, when they were recorded; () for what is no tensor.
    stack : list of str
        ``file(line): function``, innermost first, when it was recorded.
    arguments : object
        What `record_function` was given.
    cpu_memory_usage : int
        Bytes of array data that were allocated, less those that were freed.
    memory_after : int
        Bytes in use at the end, of those allocated since the recording began.
    flops : int or None
        Operations on floating point numbers, of ops of which that is known.
    failed : bool
        An exception left it.
    count : int
        1; events and their averages are summed alike.
    """

    count = 1

    def __init__(self, span: Span, number: int, origin: int) -> None:
        self.id = number
        self.name = self.key = span.name
        self.kind = span.kind
        self.time_range = Interval((span.start - origin) / 1000, (span.end - origin) / 1000)
        self.thread = span.thread
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.sequence_nr = span.sequence_nr
        self.forward: FunctionEvent | None = None
        self.input_shapes: list[Any] = [] if span.shapes is None else [_plain(shape) for shape in span.shapes]
        self.stack = list(span.stack or ())
        self.arguments = span.arguments
        self.cpu_memory_usage = span.memory
        self.memory_after = span.memory_after
        self.flops: int | None = None
        self.failed = span.failed

    @property
    def is_user_annotation(self) -> bool:
        """Was it named by `record_function`?"""
        return self.kind == "user"

    @property
    def fwd_thread(self) -> int | None:
        return None if self.forward is None else self.forward.thread

    @property
    def cpu_time_total(self) -> float:
        """Microseconds from beginning to end."""
        return self.time_range.elapsed_us()

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds, without what ran inside it; that may go on longer when generators are suspended."""
        start, end = self.time_range
        inside = sum(max(min(child.time_range.end, end) - child.time_range.start, 0) for child in self.cpu_children)
        return end - start - inside

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes, without what ran inside it."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        parent = self.cpu_parent and self.cpu_parent.name
        return (
            f"<FunctionEvent id={self.id} name={self.name} kind={self.kind} cpu_time={self.cpu_time_total:.3f}us "
            f"thread={self.thread} parent={parent} input_shapes={self.input_shapes}>"
        )


def _plain(shape: Any) -> Any:
    return [_plain(item) for item in shape] if isinstance(shape, list) else tuple(shape)


def events_of(spans: Iterable[Span], origin: int, *, with_flops: bool) -> list[FunctionEvent]:
    """Events in the order in which they began, joined to what they ran inside and to the op that recorded them."""
    ended = list(spans)
    made = {id(span): FunctionEvent(span, 0, origin) for span in ended}
    for span in ended:
        # what had begun before the recording is no parent
        made[id(span)].cpu_parent = None if span.parent is None else made.get(id(span.parent))
    events = sorted(made.values(), key=lambda event: (event.time_range.start, -event.time_range.end))
    for number, event in enumerate(events):
        event.id = number
        if event.cpu_parent is not None:
            event.cpu_parent.cpu_children.append(event)
    _link_to_forward(made[id(span)] for span in ended)
    if with_flops:
        _count_flops(events)
    return events


def _link_to_forward(events: Iterable[FunctionEvent]) -> None:
    """Nodes learn which op recorded them. In the order of ending, that is the first with the node's number.

    The op around it gave the same result, and so did one later on that had nothing to do.
    """
    recorded: dict[int, FunctionEvent] = {}
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.kind == "op":
            recorded.setdefault(event.sequence_nr, event)
        else:
            event.forward = recorded.get(event.sequence_nr)


def _count_flops(events: Iterable[FunctionEvent]) -> None:
    """An op that consists of others does not count beside them: the outermost one of known cost does."""
    counted: set[int] = set()
    for event in events:  # parents come first
        inside = event.cpu_parent is not None and id(event.cpu_parent) in counted
        if not inside and event.kind == "op" and not event.failed:
            event.flops = flops_of(event.name, event.input_shapes)
        if inside or event.flops is not None:
            counted.add(id(event))
