"""Programs as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradsmith.runtime.programs.program import Program, Slot, Step


def explained(variant: Any) -> str:
    """The steps of a variant, one a line: results, op, operands, and how it runs."""
    parts = [f"forward: {_counted(variant.forward)}", *_lines(variant.forward)]
    if variant.backward is not None:
        parts += [f"backward: {_counted(variant.backward)}", *_lines(variant.backward)]
    return "\n".join(parts)


def _counted(program: Program) -> str:
    steps = [part for step in program.steps for part in (step.block.parts if step.block is not None else [step])]
    blocks = [step.block for step in program.steps if step.block is not None]
    return (
        f"{len(steps)} steps, {sum(map(len, blocks))} of them in {len(blocks)} blocks; "
        f"{len(program.room_models)} values in {len(program.room_shapes)} rooms"
    )


def _lines(program: Program) -> Iterator[str]:
    roomy = {slot for slot, _ in program.room_models}
    yield f"    inputs {_listed(program.inputs)}"
    for step in program.steps:
        if step.block is None:
            yield f"    {_text(step, roomy)}"
            continue
        yield "    block"
        yield from (f"        {_text(part, roomy)}" for part in step.block.parts)
    yield f"    outputs {_listed(program.outputs)}"


def _text(step: Step, roomy: set[int]) -> str:
    results = ", ".join("-" if slot is None else f"%{slot}" for slot in step.results)
    operands = ", ".join(_operand(operand) for operand in step.operands)
    how = "loop" if step.is_loop else "call" if step.function is not None else "op"
    if step.is_loop and step.results[0] in roomy:
        how += " in a room"
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
