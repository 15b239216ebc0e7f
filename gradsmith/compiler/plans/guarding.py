"""Which writes to memory from outside of a program have to be undone where a run raises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradsmith.compiler.plans.memory import Memory
from gradsmith.runtime.programs.block import Block, Repeat
from gradsmith.runtime.programs.program import MOST_STEPS_AT_ONCE, Step


def guarded_slots(steps: Sequence[Step], inputs: set[int], memory: Memory) -> list[int]:
    """Inputs that are written, if anything may raise after the first write; most programs write last."""
    written = [(number, slot) for number, step in enumerate(steps) for slot in _written(step, inputs, memory)]
    if not written:
        return []
    first, _ = written[0]
    block = steps[first].block
    ends_well = block is None or not _may_raise_after_write(block)
    if (
        ends_well
        and len(steps) < MOST_STEPS_AT_ONCE
        and not any(_may_raise(step, memory) for step in steps[first + 1 :])
    ):
        return []
    return sorted({slot for _, slot in written})


def _written(step: Step, inputs: set[int], memory: Memory) -> Iterator[int]:
    if step.block is not None:
        yield from step.block.counted
    elif step.writes and step.results[0] is not None:
        base, _ = memory.place_of(step.results[0])
        if base in inputs:
            yield base


def _may_raise(step: Step, memory: Memory) -> bool:
    """Loops over arrays that are laid out alike need no memory: an optimizer that writes parameters at the end."""
    if step.block is not None:
        return bool(step.block.fresh) or any(map(_part_may_raise, step.block.parts))
    target = step.results[0]
    if not (step.is_loop and step.writes) or target is None:
        return True
    return any(
        memory.layouts[slot] != memory.layouts[target] or memory.overlaps_otherwise(slot, target)
        for slot in step.loop_inputs
    )


def _may_raise_after_write(block: Block) -> bool:
    """Interrupts end loops, and products may find no memory."""
    parts: list[Any] = block.parts
    writers = [number for number, part in enumerate(parts) if _writes(part)]
    return any(map(_part_may_raise, parts[writers[0] :]))


def _part_may_raise(part: Any) -> bool:
    return isinstance(part, Repeat) or _is_product(part)


def _writes(part: Any) -> bool:
    if isinstance(part, Step):
        return part.writes
    return not isinstance(part, str) and any(map(_writes, part.body.parts))


def _is_product(part: Any) -> bool:
    return isinstance(part, Step) and not part.is_loop and not part.writes
