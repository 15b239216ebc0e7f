"""Steps that become one.

A gradient that is stored is a copy in a trace, where nobody can tell that it has no other holder. A program makes the
original where the copy would be, if nothing else reads it.

A loop that reads rows of a tensor gives each row a gradient of its own: zeros with the row at its place, which are
added up. A program adds the row at its place instead, so that a loop of n rows costs n rows and not n times the tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.native import ADD_AT, Natives
from gradsmith.runtime.programs.block import ADD
from gradsmith.runtime.programs.program import Slot, Step, native_step, step_with_result


def without_copies(steps: Sequence[Step], outputs: Iterable[int], memory: Memory) -> list[Step]:
    """The steps, of which those whose result is only copied make the copy."""
    if not any(step.name == "clone" for step in steps):
        return list(steps)
    reads = Counter(slot for step in steps for slot in step.reads)
    reads.update(outputs)
    written = {memory.owners[slot] for step in steps if step.writes for slot in step.results if slot is not None}
    makers = {step.results[0]: n for n, step in enumerate(steps) if _makes_memory(step, memory)}
    found: list[Step | None] = list(steps)
    for number, step in enumerate(steps):
        if step.name != "clone" or step.is_loop or len(step.reads) != 1:
            continue
        source, copy = step.reads[0], step.results[0]
        maker = makers.get(source)
        if maker is None or copy is None or reads[source] != 1 or memory.owners[source] in written:
            continue
        if memory.layouts[source] == memory.layouts[copy]:
            found[maker], found[number] = step_with_result(found[maker], copy), None  # type: ignore[arg-type]
            makers[copy] = maker
    return [step for step in found if step is not None]


def _makes_memory(step: Step, memory: Memory) -> bool:
    """Is the one result of a step memory of its own?"""
    if step.writes or step.function is not None or len(step.results) != 1 or step.results[0] is None:
        return False
    owner = memory.owners[step.results[0]]
    return memory.is_own(step.results[0]) and all(memory.owners[slot] != owner for slot in step.reads)


def merged(steps: Sequence[Step], outputs: Iterable[int], memory: Memory, natives: Natives) -> list[Step]:
    """The steps, with sums of a tensor and a placed one in the place of two steps each."""
    if not any(map(_is_placed, steps)):
        return list(steps)
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
    for number in (1, 0):  # what arrives is added to the sum, as in eager, if it can be
        slot, other = step.reads[number], step.reads[1 - number]
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
