"""The table of addresses of a program: which values its blocks find where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradsmith.compiler.plans.memory import Memory

Array = np.ndarray[Any, Any]
IN_ARENA = -1


@dataclass
class Places:
    """The table of addresses of a program.

    Attributes
    ----------
    rooms : dict of int to int
        Slot -> place in the arena, of values that own their memory.
    in_arena : list of (int, int)
        Numbers of the table, and places in the arena.
    constants : list of (int, ndarray)
    """

    memory: Memory
    rooms: dict[int, int]
    in_arena: list[tuple[int, int]] = field(default_factory=list)
    constants: list[tuple[int, Array]] = field(default_factory=list)
    count: int = 0
    _known: dict[Any, int] = field(default_factory=dict)
    _where: dict[int, tuple[int, int]] = field(default_factory=dict)

    def where(self, slot: int) -> tuple[int, int]:
        """`IN_ARENA` and a place there, or the value whose memory this one shows and an offset in bytes."""
        found = self._where.get(slot)
        if found is None:
            base, offset = self.memory.place_of(slot)
            room = self.rooms.get(base)
            found = self._where[slot] = (base, offset) if room is None else (IN_ARENA, room + offset)
        return found

    def of_slot(self, slot: int, moving: Moving, shift: int = 0) -> int:
        base, offset = self.where(slot)
        offset += shift
        return self.of_arena(offset) if base == IN_ARENA else self._of_moving(base, offset, moving)

    def of_arena(self, offset: int) -> int:
        number = self._known.get((IN_ARENA, offset))
        if number is None:
            number = self._known[IN_ARENA, offset] = self.new()
            self.in_arena.append((number, offset))
        return number

    def of_numbers(self, numbers: Array) -> int:
        """Of the first one of some numbers side by side."""
        key = (numbers.dtype, numbers.tobytes())
        if key not in self._known:
            self._known[key] = self.new()
            self.constants.append((self._known[key], numbers))
        return self._known[key]

    def new(self, count: int = 1) -> int:
        """The first of some numbers that are free."""
        self.count += count
        return self.count - count

    def _of_moving(self, base: int, offset: int, moving: Moving) -> int:
        number = self._known.setdefault((base, offset), self.count)
        if number == self.count:
            self.count += 1
        moving[number] = (number, base, offset)
        return number


# What lies elsewhere in each run: number of the table, slot, offset.
Moving = dict[int, tuple[int, int, int]]
