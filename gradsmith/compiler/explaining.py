"""Programs as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gradsmith.control_flow.repeating.loop import Run
from gradsmith.runtime.programs.block import Block, Repeat, Tiles
from gradsmith.runtime.programs.program import Program, Slot, Step


def explained(variant: Any) -> str:
    """The steps of a variant, one a line: results, op, operands, and how it runs."""
    parts = [f"forward: {_counted(variant.forward)}", *_lines(variant.forward)]
    if variant.backward is not None:
        parts += [f"backward: {_counted(variant.backward)}", *_lines(variant.backward)]
    return "\n".join(parts)


def _counted(program: Program) -> str:
    steps = list(_all_steps(program.steps))
    blocks = [step.block for step in program.steps if step.block is not None]
    in_blocks = sum(1 for block in blocks for _ in _all_steps(block.parts))
    return f"{len(steps)} steps, {in_blocks} of them in {len(blocks)} blocks; {program.arena_size} bytes of memory"


def _all_steps(parts: Iterable[Step | Repeat | Tiles | str]) -> Iterator[Step]:
    """Steps; those of a loop once."""
    for part in _once(parts):
        if isinstance(part, (Repeat, Tiles)):
            yield from _once(part.body.parts)
        elif isinstance(part, str):
            continue
        elif part.block is not None:
            yield from _all_steps(part.block.parts)
        else:
            yield part


def _lines(program: Program) -> Iterator[str]:
    yield f"    inputs {_listed(program.inputs)}"
    for step in program.steps:
        if step.block is None:
            yield f"    {_text(step)}"
            if isinstance(step.function, Run):
                yield f"    {step.function.shape.n} times"
                yield from (f"    {line}" for line in _lines(step.function.body.program))
        else:
            yield "    block"
            yield from _lines_of_block(step.block)
    yield f"    outputs {_listed(program.outputs)}"


def _lines_of_block(block: Block) -> Iterator[str]:
    for part in _once(block.parts):
        if isinstance(part, Repeat):
            yield f"        {part.count} times"
            yield from (f"            {_text(step)}" for step in _once(part.body.parts))
        elif isinstance(part, Tiles):
            yield f"        tiles of {part.n} elements"
            yield from (f"            {_text(step)}" for step in _once(part.body.parts))
        else:
            yield f"        {_text(part)}"


def _once(parts: Iterable[Any]) -> Iterator[Any]:
    """Without those that are the same as the one before: a step that a block does in several parts."""
    before = None
    for part in parts:
        if part is not before:
            yield part
        before = part


def _text(step: Step | str) -> str:
    if isinstance(step, str):  # what no step of the trace says, such as a copy
        return step
    results = ", ".join("-" if slot is None else f"%{slot}" for slot in step.results)
    operands = ", ".join(_operand(operand) for operand in step.operands)
    how = "loop" if step.is_loop else "call" if step.function is not None else "op"
    sign = "<-" if step.writes else "="
    return f"{results} {sign} {step.name}({operands})    # {how}{f', {step.place}' if step.place else ''}"


def _operand(operand: Any) -> str:
    if isinstance(operand, Slot):
        return f"%{operand.number}"
    if isinstance(operand, (tuple, list)):
        return f"[{', '.join(map(_operand, operand))}]"
    return repr(operand)


def _listed(slots: tuple[int, ...]) -> str:
    return ", ".join(f"%{slot}" for slot in slots)
