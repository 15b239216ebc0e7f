"""Who owns the memory of the values of a trace, and what shows which part of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.program import Step

Array = np.ndarray[Any, Any]


def owner_of(array: Array) -> Array:
    """The array that has the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def address_of(array: Array) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


class Memory:
    """Who owns the memory of each value.

    Parameters
    ----------
    values : sequence of Tensor
        Those of the traced run, by slot.
    outside : iterable of int
        Slots of tensors that were there before: what is written to their memory stays written.
    steps : sequence of Step
        All that was traced, in order.
    """

    def __init__(self, values: Sequence[Any], outside: Iterable[int], steps: Sequence[Step]) -> None:
        self.arrays = [array_behind(value) for value in values]
        self.owners = [id(owner_of(array)) for array in self.arrays]
        self.outside = {self.owners[slot] for slot in outside}
        self._bases = list(range(len(self.arrays)))
        for step in steps:
            self._note_views(step)

    def is_own(self, slot: int) -> bool:
        """Is the array of the value the owner of its memory?"""
        return self.owners[slot] == id(self.arrays[slot])

    def place_of(self, slot: int) -> tuple[int, int]:
        """The value that this one is a view of, perhaps itself, and where in its memory it begins, in bytes."""
        base = self._bases[slot]
        return base, 0 if base == slot else address_of(self.arrays[slot]) - address_of(self.arrays[base])

    def overlaps_otherwise(self, slot: int, other: int) -> bool:
        """Do two values share memory without being laid out alike?"""
        if self.owners[slot] != self.owners[other]:
            return False
        one, two = self.arrays[slot], self.arrays[other]
        return one.shape != two.shape or one.strides != two.strides or address_of(one) != address_of(two)

    def is_view(self, step: Step) -> bool:
        """Does a step do nothing but show the memory of an operand?"""
        if step.is_loop or step.function is not None or step.writes or step.has_effects:
            return False
        shown = {self.owners[slot] for slot in step.reads}
        return bool(step.results) and all(slot is not None and self.owners[slot] in shown for slot in step.results)

    def _note_views(self, step: Step) -> None:
        if step.writes:
            return
        for result in step.results:
            if result is None:
                continue
            for slot in step.reads:
                if self.owners[slot] == self.owners[result]:
                    self._bases[result] = self._bases[slot]
                    break
