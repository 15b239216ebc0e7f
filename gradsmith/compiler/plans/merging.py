"""Steps that become one.

A loop that reads rows of a tensor gives each row a gradient of its own: zeros with the row at its place, which are
added up. A program adds the row at its place instead, so that a loop of n rows costs n rows and not n times the tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.native import ADD_AT, Natives
from gradsmith.runtime.programs.block import ADD
from gradsmith.runtime.programs.program import Slot, Step, native_step


def merged(steps: Sequence[Step], outputs: Iterable[int], memory: Memory, natives: Natives) -> list[Step]:
    """The steps, with sums of a tensor and a placed one in the place of two steps each."""
    reads = Counter(slot for step in steps for slot in step.reads)
    reads.update(outputs)
    written = {memory.owners[slot] for step in steps if step.writes for slot in step.results if slot is not None}
    placed = {
        step.results[0]: step for step in steps if _is_placed(step) and memory.owners[step.reads[0]] not in written
    }
    dropped: set[int] = set()
    found: list[Step] = []
    for step in steps:
        sum_at = _sum_at(step, placed, reads, memory, natives)
        if sum_at is None:
            found.append(step)
        else:
            found.append(sum_at[0])
            dropped.add(id(sum_at[1]))
    return [step for step in found if id(step) not in dropped]


def _is_placed(step: Step) -> bool:
    return step.name == "basic_index_backward" and not step.is_loop


def _sum_at(
    step: Step, placed: dict[int | None, Step], reads: Counter[int], memory: Memory, natives: Natives
) -> tuple[Step, Step] | None:
    """A sum and the step that made one of its operands, as one step, and the one that is not needed any more."""
    if step.loop is None or step.loop[:2] != ("binary", ADD) or step.writes:
        return None
    for number, slot in enumerate(step.reads):
        other = step.reads[1 - number]
        zeros = placed.get(slot)
        if zeros is None or reads[slot] != 1 or memory.layouts[other] != memory.layouts[slot]:
            continue
        if memory.arrays[zeros.reads[0]].size == memory.arrays[slot].size:  # it could be taken for what is written over
            continue
        operands = (Slot(other), zeros.operands[0], *zeros.operands[1:])
        made = native_step(ADD_AT, operands, step)
        if natives.of(made) is not None:
            return made, zeros
    return None
