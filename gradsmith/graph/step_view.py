"""A step of a trace, seen by the functions that print it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.graph.layout import Array, NotExportable, Operand, indices_of
from gradsmith.graph.literals import c_type, literal
from gradsmith.runtime.programs.program import Slot, Step


class StepView:
    """What a printer of one step asks for.

    Parameters
    ----------
    step : Step
    arrays : list of ndarray
        Those of the traced run, by slot.
    place : callable
        The operand for an array that is, or shows, one of them.
    """

    def __init__(self, step: Step, arrays: list[Array], place: Callable[[int, Array], Operand]) -> None:
        self.step, self.arrays, self._place = step, arrays, place
        self.name = step.name[:-1] if step.writes and step.name.endswith("_") else step.name
        self.operands = list(step.operands)
        self.reads: list[Operand] = []
        if len(step.results) != 1 or step.results[0] is None:
            raise NotExportable("it has several results")
        self.slot: int = step.results[0]
        self.result = self.place(self.slot)
        c_type(self.result.dtype)

    @property
    def slots(self) -> list[int]:
        return [operand.number for operand in self.operands if isinstance(operand, Slot)]

    def array(self, slot: int) -> Array:
        return self.arrays[slot]

    def place(self, slot: int, shown: Array | None = None) -> Operand:
        return self._place(slot, self.arrays[slot] if shown is None else shown)

    def source(self, number: int = 0) -> Operand:
        """The operand of that number, which has to be a tensor."""
        operand = self.operands[number]
        if not isinstance(operand, Slot):
            raise NotExportable("an argument that is a number has no form here")
        return self.place(operand.number)

    def pointer(self, operand: Operand) -> str:
        """The name of the pointer to the memory of what is read."""
        self._expect_apart(operand)
        if operand.buffer == self.result.buffer and operand.dtype == self.result.dtype:
            return "r0"
        for number, known in enumerate(self.reads):
            if known.buffer == operand.buffer and known.dtype == operand.dtype:
                return f"a{number}"
        self.reads.append(operand)
        return f"a{len(self.reads) - 1}"

    def element(self, operand: Any, dtype: np.dtype[Any]) -> str:
        """The element of an operand that belongs to the one of the result, converted."""
        if isinstance(operand, Slot):
            return self.element_of_slot(operand.number, dtype)
        if not isinstance(operand, (bool, int, float)):
            raise NotExportable(f"an argument of type {type(operand).__name__} has no form here")
        return literal(operand, dtype)

    def element_of_slot(self, slot: int, dtype: np.dtype[Any] | None = None) -> str:
        operand = self.place(slot)
        text = operand.at(self.pointer(operand), indices_of(len(self.result.shape)))
        return text if dtype is None else converted(text, operand.dtype, dtype)

    def target(self) -> str:
        return self.result.at("r0", indices_of(len(self.result.shape)))

    def _expect_apart(self, operand: Operand) -> None:
        """A loop may write over what it reads only where both lie alike."""
        if operand.buffer != self.result.buffer:
            return
        if (operand.offset, operand.shape, operand.strides) != (
            self.result.offset,
            self.result.shape,
            self.result.strides,
        ):
            raise NotExportable("it reads memory that it writes; clone() what is read")


def converted(text: str, found: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    if found == wanted:
        return text
    return f"({text} != 0)" if wanted.kind == "b" else f"({c_type(wanted)}){text}"
