"""What a program costs, where its time goes, and how it looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gradsmith.autograd.graph.drawing.drawing import GraphDrawing
from gradsmith.autograd.graph.drawing.picture import Arrow, Box, Kind, Picture
from gradsmith.compiler.values import Values
from gradsmith.control_flow.repeating.loop import Run
from gradsmith.runtime.programs.block import Repeat, Tiles
from gradsmith.runtime.programs.program import Program, Step

PRODUCTS = ("matmul", "mm", "mv", "dot", "linear", "matmul_of_transpose", "bmm", "addmm")
SUMS = ("sum", "sum_to", "mean", "amax", "amin", "prod", "logsumexp")
MOST_BOXES = 300


@dataclass(frozen=True)
class Cost:
    """What a call does.

    Attributes
    ----------
    flops : int
        Multiplications and additions of products, and one operation for each element of anything else.
    bytes_read, bytes_written : int
        By steps, were nothing in a cache.
    memory : int
        Bytes that the programs keep from call to call, and those of states and stacked results of loops in a call.
    ops : Counter
        How often each op runs.
    """

    flops: int
    bytes_read: int
    bytes_written: int
    memory: int
    ops: Counter[str]

    def __str__(self) -> str:
        counted = ", ".join(f"{count:,} {name}" for name, count in self.ops.most_common())
        return (
            f"{self.flops:,} operations; {self.bytes_read:,} bytes read, {self.bytes_written:,} written; "
            f"{self.memory:,} bytes kept\n{counted}"
        )


def cost_of(variant: Any) -> Cost:
    ops = Counter[str]()
    flops = read = written = memory = 0
    for program, values, runs in _programs(variant):
        memory += program.arena_size
        for step, count in _with_counts(program.steps):
            if isinstance(step.function, Run):  # its program follows
                memory += step.function.nbytes
                continue
            times = runs * count
            results = [slot for slot in step.results if slot is not None]
            ops[step.name] += times
            flops += times * _flops(step, results, values)
            read += times * sum(map(values.nbytes, step.reads))
            written += times * sum(map(values.nbytes, results))
    return Cost(flops, read, written, memory, ops)


def _programs(variant: Any) -> Iterator[tuple[Program, Values, int]]:
    """Each program, with those of the steps of loops, and how often it runs."""
    yield from _with_loops(variant.forward, variant.values, 1)
    if variant.backward is not None:
        yield from _with_loops(variant.backward, variant.values, 1)


def _with_loops(program: Program, values: Values, runs: int) -> Iterator[tuple[Program, Values, int]]:
    yield program, values, runs
    for step in program.steps:
        if isinstance(step.function, Run):
            body = step.function.body
            yield from _with_loops(body.program, body.values, runs * step.function.shape.n)


def _with_counts(parts: Iterable[Any], times: int = 1) -> Iterator[tuple[Step, int]]:
    """Each step, and how often it runs."""
    before = None
    for part in parts:
        if part is before or isinstance(part, str):  # one step in several parts; a copy for a loop
            continue
        before = part
        if isinstance(part, (Repeat, Tiles)):
            yield from _with_counts(part.body.parts, times * (part.count if isinstance(part, Repeat) else 1))
        elif part.block is not None:
            yield from _with_counts(part.block.parts, times)
        else:
            yield part, times


def _flops(step: Step, results: list[int], values: Values) -> int:
    size = sum(map(values.size, results))
    if step.name in PRODUCTS and step.reads:
        shape = values.shape(step.reads[0])
        inner = shape[0] if step.name == "matmul_of_transpose" else shape[-1]
        return 2 * size * inner
    return values.size(step.reads[0]) if step.name in SUMS and step.reads else size


@dataclass(frozen=True)
class Profile:
    """Time of the steps of a program.

    Attributes
    ----------
    rows : list of (float, str)
        Seconds of each step, and what it does; a block is one step.
    """

    rows: list[tuple[float, str]]

    @property
    def total(self) -> float:
        return sum(seconds for seconds, _ in self.rows)

    def __str__(self) -> str:
        total = self.total
        lines = [
            f"{seconds * 1e6:10.2f} us {seconds / total if total else 0.0:6.1%}  {text}"
            for seconds, text in sorted(self.rows, key=lambda row: -row[0])
        ]
        return "\n".join([f"{total * 1e6:10.2f} us         all {len(self.rows)} steps", *lines])


def profile_of(variant: Any, inputs: tuple[Any, ...], runs: int) -> Profile:
    if runs < 1:
        raise ValueError(f"profile(): runs must be at least 1, but is {runs}")
    times = variant.forward.timed(inputs, runs)
    return Profile([(seconds, _title(step)) for seconds, step in zip(times, variant.forward.steps)])


def _title(step: Step) -> str:
    if step.block is None:
        return f"{step.name} {step.place}".strip()
    counted = Counter[str]()
    for inner, times in _with_counts(step.block.parts):
        counted[inner.name] += times
    return "block: " + ", ".join(f"{count:,} {name}" for name, count in counted.most_common())


def drawing_of(variant: Any) -> GraphDrawing:
    """Steps as boxes, those of loops once, and values as arrows."""
    program, values = variant.forward, variant.values
    boxes = [Box(Kind.LEAF, (f"%{slot}", values.text(slot))) for slot in program.inputs]
    makers = {slot: number for number, slot in enumerate(program.inputs)}
    arrows: list[Arrow] = []
    steps = list(_with_counts(program.steps))
    for step, times in steps[:MOST_BOXES]:
        results = [slot for slot in step.results if slot is not None]
        lines = (step.name, *[values.text(slot) for slot in results], *([f"{times:,} times"] if times > 1 else []))
        arrows += [Arrow(makers[slot], len(boxes), f"%{slot}") for slot in dict.fromkeys(step.reads) if slot in makers]
        makers |= dict.fromkeys(results, len(boxes))
        boxes.append(Box(Kind.OP, lines))
    for slot in program.outputs:
        if slot in makers:
            arrows.append(Arrow(makers[slot], len(boxes), f"%{slot}"))
            boxes.append(Box(Kind.OUTPUT, ("result", values.text(slot))))
    note = f"{len(steps) - MOST_BOXES} more steps are left out" if len(steps) > MOST_BOXES else ""
    return GraphDrawing(Picture(tuple(boxes), tuple(arrows), note))
