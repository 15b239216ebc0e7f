"""Loops of a program: steps that run several times, and the layout of memory that lets them.

Note [Rolled loops]
The trace of a loop is its body, repeated. Each result of the body is stored in one of two ways. If nothing reads it
after the next iteration has computed its own, every iteration writes to the same place. Otherwise the results of all
iterations lie one after another, so that a later loop, such as the backward of this one, finds them at a fixed
distance. The address of an operand therefore either stays the same or moves by a fixed stride per iteration.

The first iteration may read a value that came from before the loop. It is copied to the place where the previous
iteration would have left it. Operands that follow no such rule have their addresses listed, one per iteration.

Steps run in the order of the trace, so rolling a loop changes nothing about which values live when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradsmith.compiler.plans.memory import Array, Memory
from gradsmith.compiler.plans.native import Native
from gradsmith.compiler.plans.periods import periods
from gradsmith.compiler.plans.places import IN_ARENA, Moving, Places
from gradsmith.compiler.plans.rooms import Arena
from gradsmith.runtime.programs.block import Block, Repeat
from gradsmith.runtime.programs.program import Step

LEAD = 2  # how many iterations back an operand may reach


@dataclass(frozen=True)
class Lead:
    """Where the loop looks for a value from before its first iteration.

    nbytes : size of the value.
    until : position in the body of the step that overwrites this place, or None if no step does. Steps after it find
        what the first iteration has made.
    """

    nbytes: int
    until: int | None


@dataclass
class Loop:
    """Steps that run several times.

    Attributes
    ----------
    numbers : ndarray, (iterations, steps of the body)
        Numbers of the steps.
    leads : dict of int to Lead
        Places in the arena for values from before the first iteration.
    """

    numbers: Array
    leads: dict[int, Lead] = field(default_factory=dict)

    @property
    def iterations(self) -> int:
        return len(self.numbers)


def find_loops(natives: dict[int, Native], groups: Sequence[Sequence[int]]) -> dict[int, Loop]:
    """The loops of a program, by the numbers of their first steps, in `groups` of steps that follow one another."""
    kinds: dict[int, int] = {}
    found: dict[int, Loop] = {}
    for group in groups:
        signs = np.array([kinds.setdefault(id(natives[number].kind), len(kinds)) for number in group], np.int64)
        for period in periods(signs):
            numbers = np.array(group[period.start : period.end]).reshape(period.count, period.length)
            found[int(numbers[0, 0])] = Loop(numbers)
    return found


class Layout:
    """Decides where the results of a loop are stored.

    Parameters
    ----------
    has_room : callable
        Of the number of a step: is its result the program's own?
    last : dict of int to int
        Owner -> number of the last step that reads its memory.
    overwrites : callable
        Of a step's number and an owner: may the step write its result over the owner's memory, which it reads?
    """

    def __init__(
        self,
        memory: Memory,
        natives: dict[int, Native],
        has_room: Callable[[int], bool],
        last: dict[int, int],
        overwrites: Callable[[int, int], bool],
    ) -> None:
        self.memory, self.natives, self.has_room = memory, natives, has_room
        self.last, self.overwrites = last, overwrites

    def trim(self, loop: Loop) -> Loop:
        """Leave out a first or last iteration whose results leave the program, unlike those of the others."""
        own = np.array([[self.has_room(number) for number in row] for row in loop.numbers])
        usual = own[loop.iterations // 2]
        odd = (own != usual).any(1)
        first = int(odd[0])
        last = loop.iterations - int(odd[-1])
        return Loop(loop.numbers[first:last])

    def place(self, loop: Loop, arena: Arena, rooms: dict[int, int]) -> list[tuple[int, int, int]]:
        """Put the results of a loop into the arena. Gives (step that frees it, place, bytes)."""
        freed = []
        for position, column in enumerate(loop.numbers.T.tolist()):
            own = [number for number in column if self.has_room(number)]
            slots = [self.natives[number].result for number in own]
            if len(own) < len(column):
                freed += [self._place_one(slot, arena, rooms) for slot in slots]
            else:
                freed.append(self._place_iterations(loop, position, slots, arena, rooms))
        return freed

    def _place_one(self, slot: int, arena: Arena, rooms: dict[int, int]) -> tuple[int, int, int]:
        nbytes = self.memory.arrays[slot].nbytes
        rooms[slot] = arena.take(nbytes)
        return self.last[self.memory.owners[slot]], rooms[slot], nbytes

    def _place_iterations(
        self, loop: Loop, position: int, slots: list[int], arena: Arena, rooms: dict[int, int]
    ) -> tuple[int, int, int]:
        column = loop.numbers[:, position].tolist()
        nbytes = self.memory.arrays[slots[0]].nbytes
        stride = 0 if self._may_overwrite_last(column, slots) else nbytes
        size = nbytes if stride == 0 else nbytes * (LEAD + len(slots))
        place = arena.take(size)
        start = place if stride == 0 else place + LEAD * nbytes
        rooms.update((slot, start + stride * iteration) for iteration, slot in enumerate(slots))
        for iteration in range(LEAD):
            loop.leads[start - stride * (iteration + 1)] = Lead(nbytes, position if stride == 0 else None)
        return max(self.last[self.memory.owners[slot]] for slot in slots), place, size

    def _may_overwrite_last(self, column: list[int], slots: list[int]) -> bool:
        """Has each value been read for the last time when the next iteration replaces it?"""
        for slot, number in zip(slots, column[1:]):
            owner = self.memory.owners[slot]
            last = self.last[owner]
            if last > number or (last == number and not self.overwrites(number, owner)):
                return False
        return True


class Roller:
    """Writes one loop into a block."""

    def __init__(self, loop: Loop, natives: dict[int, Native], places: Places, moving: Moving) -> None:
        self.loop, self.natives, self.places, self.moving = loop, natives, places, moving
        memory = places.memory
        self.made = {memory.owners[natives[number].result] for row in loop.numbers.tolist() for number in row}
        self.starts: list[int] = []
        self.strides: list[int] = []
        self.listed: list[list[int]] = []
        self.copied: dict[int, int] = {}

    def write(self, block: Block, steps: Sequence[Step]) -> None:
        columns = [[self.natives[number] for number in column] for column in self.loop.numbers.T.tolist()]
        parts = [(natives, number) for natives in columns for number in range(len(natives[0].kind.parts))]
        positions = {id(natives): position for position, natives in enumerate(columns)}
        places = [
            (self._operands(natives, number, positions[id(natives)]), self._result(natives, number))
            for natives, number in parts
        ]
        for place, slot in self.copied.items():
            self._copy(block, place, slot)
        first = self.places.new(len(self.starts) + len(self.listed))
        body = Block()
        step_of = {id(natives): steps[number] for natives, number in zip(columns, self.loop.numbers[0].tolist())}
        for (natives, number), (ins, out) in zip(parts, places):
            kind, part = natives[0].kind, natives[0].kind.parts[number]
            known = tuple([one.known(first, len(self.starts)) for one in ins])
            body.add(
                step_of[id(natives)], part.kind, part.n, kind.is_double, out.known(first, len(self.starts)), known,
                part.moving, part.more,
            )  # fmt: skip
        listed = np.array(self.listed, np.int32).T if self.listed else np.empty((self.loop.iterations, 0), np.int32)
        block.add_repeat(Repeat(body, self.loop.iterations, first, self.starts, self.strides, listed))

    def _operands(self, natives: list[Native], number: int, position: int) -> list[_Place]:
        """Those of one part of a step, in all iterations."""
        iterations = [native.inputs(native.kind.parts[number]) for native in natives]
        return [self._operand(list(one), position) for one in zip(*iterations)]

    def _operand(self, iterations: list[tuple[int, int] | Array], position: int) -> _Place:
        slots = [one for one in iterations if isinstance(one, tuple)]
        if not slots:
            return self._numbers([one for one in iterations if not isinstance(one, tuple)])
        ids, offsets = self._where(slots)
        for skipped in range(LEAD + 1):
            stride = _stride(ids[skipped:], offsets[skipped:])
            if stride is None:
                continue
            if skipped == 0:
                return self._affine(self.places.of_slot(slots[0][0], self.moving, slots[0][1]), stride)
            start = int(offsets[skipped]) - skipped * stride
            if ids[skipped] == IN_ARENA and self._may_copy(
                [slot for slot, _ in slots[: skipped + 1]], position, start, stride
            ):
                return self._affine(self.places.of_arena(start), stride)
            break
        return self._list(slots)

    def _result(self, natives: list[Native], number: int) -> _Place:
        slots = [(native.result, native.shifts[number]) for native in natives]
        stride = _stride(*self._where(slots))
        if stride is None:
            return self._list(slots)
        return self._affine(self.places.of_slot(slots[0][0], self.moving, slots[0][1]), stride)

    def _where(self, slots: list[tuple[int, int]]) -> tuple[Array, Array]:
        """Whether the values are in the arena or whose memory they show, and where in it they are."""
        where = [self.places.where(slot) for slot, _ in slots]
        return np.array([w[0] for w in where]), np.array([w[1] + shift for w, (_, shift) in zip(where, slots)])

    def _may_copy(self, slots: list[int], position: int, start: int, stride: int) -> bool:
        """Arrange to copy what the first iterations read to where later ones read earlier results, if that is safe.

        `slots` are those of the first iterations and of the one after them. The whole value that an operand is a view
        of is copied.
        """
        memory = self.places.memory
        usual, inner = memory.place_of(slots[-1])
        if stride == 0 and len(slots) > 2:
            return False
        copied: dict[int, int] = {}
        for iteration, slot in enumerate(slots[:-1]):
            place = start + iteration * stride - inner
            lead = self.loop.leads.get(place)
            base, offset = memory.place_of(slot)
            array = memory.arrays[base]
            if offset != inner or memory.layouts[base] != memory.layouts[usual] or memory.owners[base] in self.made:
                return False
            if not (array.flags.c_contiguous or array.flags.f_contiguous):
                return False
            if lead is None or lead.nbytes != array.nbytes or self.copied.get(place, base) != base:
                return False
            if lead.until is not None and (iteration > 0 or position > lead.until):  # it is overwritten before
                return False
            copied[place] = base
        self.copied |= copied
        return True

    def _copy(self, block: Block, place: int, slot: int) -> None:
        nbytes, source = self.places.memory.arrays[slot].nbytes, self.places.of_slot(slot, self.moving)
        block.add(f"copy of %{slot} for the loop", "copy", nbytes, True, self.places.of_arena(place), (source,), 0)

    def _numbers(self, numbers: list[Array]) -> _Place:
        """Python numbers, which may differ from iteration to iteration."""
        if len({number.tobytes() for number in numbers}) == 1:
            return _Place(self.places.of_numbers(numbers[0]))
        return self._affine(self.places.of_numbers(np.array(numbers)), numbers[0].itemsize)

    def _affine(self, start: int, stride: int) -> _Place:
        if stride == 0:
            return _Place(start)
        self.starts.append(start)
        self.strides.append(stride)
        return _Place(moving=len(self.starts) - 1)

    def _list(self, slots: list[tuple[int, int]]) -> _Place:
        self.listed.append([self.places.of_slot(slot, self.moving, shift) for slot, shift in slots])
        return _Place(listed=len(self.listed) - 1)


@dataclass(frozen=True)
class _Place:
    """Of an operand: a number of the table, or which of those that move or are listed."""

    fixed: int = -1
    moving: int = -1
    listed: int = -1

    def known(self, first: int, n_moving: int) -> int:
        """The number, where those of the loop begin with `first`."""
        if self.fixed >= 0:
            return self.fixed
        return first + (self.moving if self.moving >= 0 else n_moving + self.listed)


def _stride(ids: Array, offsets: Array) -> int | None:
    """The distance from each place to the next, if there is one."""
    if len(ids) < 2 or (ids != ids[0]).any():
        return None
    distances = np.diff(offsets)
    return int(distances[0]) if (distances == distances[0]).all() else None
