"""Rematerialisation: what a backward computes again instead of having it kept.

Note [Recomputing]
A recorded call keeps values for its backward. One that elementwise steps make of the inputs, or of other values that
are kept anyway, can be made again: the backward program then has these steps too, where they run together with its own,
so that chains are computed tile by tile and never are arrays. What is written, drawn, or made by anything but a loop
over elements is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradsmith.compiler.plans.memory import Memory
from gradsmith.runtime.programs.program import Step

CHEAP = 8  # steps that "balanced" does again, at most, to keep one value less
SMALLEST = 4096  # bytes of a value that is worth it


class Recomputing:
    """Chooses what is kept.

    Parameters
    ----------
    forward : sequence of Step
    written : set of int
        Owners of memory that any step writes.
    inputs : iterable of int
        Slots of tensors that the backward may read at no cost.
    """

    def __init__(self, forward: Sequence[Step], written: set[int], inputs: Iterable[int], memory: Memory) -> None:
        self.memory, self.inputs = memory, set(inputs)
        self.makers: dict[int, tuple[int, Step]] = {}
        for number, step in enumerate(forward):
            slot = step.results[0] if len(step.results) == 1 else None
            if slot is not None and self._is_repeatable(step, slot, written):
                self.makers[slot] = number, step

    def chosen(self, kept: Iterable[int], limit: Any) -> tuple[list[int], list[Step]]:
        """What is kept of `kept` after all, and the steps that make the rest, in order.

        `limit` is "min", for as little as possible, "balanced", for what few steps make, or a number of bytes.
        """
        left = list(kept)
        for slot in self._by_gain(left):
            if isinstance(limit, int) and self.nbytes(left) <= limit:
                break
            found = self._without(slot, left, CHEAP if limit == "balanced" else None)
            if found is not None:
                left = found
        return sorted(left), self._steps_for(set(kept) - set(left), set(left))

    def nbytes(self, slots: Iterable[int]) -> int:
        """Of memory that values have; views of one another count once."""
        return sum({self.memory.owners[slot]: self.memory.arrays[slot].nbytes for slot in slots}.values())

    def _is_repeatable(self, step: Step, slot: int, written: set[int]) -> bool:
        if step.writes or step.has_effects or step.function is not None:
            return False
        owners = {self.memory.owners[one] for one in (slot, *step.reads)}
        return written.isdisjoint(owners) and (step.is_loop or self.memory.is_view(step))

    def _by_gain(self, kept: list[int]) -> list[int]:
        """The largest first; of equal ones those that were made first, of which others can be made again."""
        large = [slot for slot in kept if self.memory.arrays[slot].nbytes >= SMALLEST]
        return sorted(large, key=lambda slot: (-self.memory.arrays[slot].nbytes, slot))

    def _without(self, slot: int, kept: list[int], most_steps: int | None) -> list[int] | None:
        """What is kept in the place of a value, if that is less."""
        rest = [one for one in kept if one != slot]
        steps, needed = self._closure([slot], set(rest))
        if not steps or (most_steps is not None and len(steps) > most_steps):
            return None
        added = needed - set(rest)
        return [*rest, *added] if self.nbytes(added) < self.memory.arrays[slot].nbytes else None

    def _steps_for(self, slots: set[int], kept: set[int]) -> list[Step]:
        steps, _ = self._closure(slots, kept)
        return [step for _, step in sorted(steps.values(), key=lambda pair: pair[0])]

    def _closure(self, slots: Iterable[int], kept: set[int]) -> tuple[dict[int, tuple[int, Step]], set[int]]:
        """The steps that make values of what is kept and of inputs; and what else they need."""
        steps: dict[int, tuple[int, Step]] = {}
        needed: set[int] = set()
        left = list(slots)
        while left:
            slot = left.pop()
            if slot in steps or slot in self.inputs or slot in kept:
                continue
            if slot not in self.makers:
                needed.add(slot)
                continue
            steps[slot] = self.makers[slot]
            left += self.makers[slot][1].reads
        return steps, needed
