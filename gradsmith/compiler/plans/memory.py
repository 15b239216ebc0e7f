"""Who owns the memory of the values of a trace, and what shows which part of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.programs.layouts import described
from gradsmith.runtime.programs.program import Step

Array = np.ndarray[Any, Any]


def owner_of(array: Array) -> Array:
    """The array that has the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


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

    Attributes
    ----------
    arrays : list of ndarray
    owners : list of int
        Ids of the arrays that own the memory.
    layouts : list of int
        The same number where dtype, shape and strides are the same.
    kinds : list of tuple
        Dtype, shape and strides of each number.
    """

    def __init__(self, values: Sequence[Any], outside: Iterable[int], steps: Sequence[Step]) -> None:
        self.arrays, self._addresses, self.owners, self.layouts, self.kinds = described(list(values))
        self.outside = {self.owners[slot] for slot in outside}
        self._bases = list(range(len(self.arrays)))
        for step in steps:
            self._note_views(step)

    def seen_from(self, inputs: Sequence[int], steps: Sequence[Step]) -> Memory:
        """The same for a program that is not given what some of its inputs are views of: these are bases themselves."""
        known = set(inputs)
        strangers = [slot for slot in inputs if self._bases[slot] not in known]
        if not strangers:
            return self
        found = copy.copy(self)
        found._bases = list(self._bases)
        for slot in strangers:
            found._bases[slot] = slot
        for step in steps:
            found._note_views(step)
        return found

    def is_own(self, slot: int) -> bool:
        """Is the array of the value the owner of its memory?"""
        return self.owners[slot] == id(self.arrays[slot])

    def address_of(self, slot: int) -> int:
        return self._addresses[slot]

    def place_of(self, slot: int) -> tuple[int, int]:
        """The value that this one is a view of, perhaps itself, and where in its memory it begins, in bytes."""
        base = self._bases[slot]
        return base, self._addresses[slot] - self._addresses[base]

    def overlaps_otherwise(self, slot: int, other: int) -> bool:
        """Do two values share memory without being laid out alike?"""
        if self.owners[slot] != self.owners[other]:
            return False
        return self.layouts[slot] != self.layouts[other] or self._addresses[slot] != self._addresses[other]

    def is_view(self, step: Step) -> bool:
        """Does a step do nothing but show the memory of an operand?"""
        if step.is_loop or step.writes or step.has_effects:
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
