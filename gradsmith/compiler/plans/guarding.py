"""Which writes to memory from outside of a program have to be undone where a run raises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradsmith.compiler.plans.memory import Memory
from gradsmith.runtime.programs.block import Block, Repeat
from gradsmith.runtime.programs.program import Step


def guarded_slots(steps: Sequence[Step], inputs: set[int], memory: Memory) -> list[int]:
    """Inputs that are written, if anything may raise after the first write; most programs write last."""
    written = [(number, slot) for number, step in enumerate(steps) for slot in _written(step, inputs, memory)]
    if not written:
        return []
    first, _ = written[0]
    block = steps[first].block
    if first == len(steps) - 1 and (block is None or not _may_raise_after_write(block)):
        return []
    return sorted({slot for _, slot in written})


def _written(step: Step, inputs: set[int], memory: Memory) -> Iterator[int]:
    if step.block is not None:
        yield from step.block.counted
    elif step.writes and step.results[0] is not None:
        base, _ = memory.place_of(step.results[0])
        if base in inputs:
            yield base


def _may_raise_after_write(block: Block) -> bool:
    """Interrupts end loops, and products may find no memory."""
    parts: list[Any] = block.parts
    writers = [number for number, part in enumerate(parts) if _writes(part)]
    return any(isinstance(part, Repeat) or _is_product(part) for part in parts[writers[0] :])


def _writes(part: Any) -> bool:
    if isinstance(part, Step):
        return part.writes
    return not isinstance(part, str) and any(map(_writes, part.body.parts))


def _is_product(part: Any) -> bool:
    return isinstance(part, Step) and not part.is_loop and not part.writes
