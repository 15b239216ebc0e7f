"""Which steps of a trace have to run, and where the values of a program live.

Memory decides both. Values that are views of one another share an owner, the array that has the memory: a write counts
if anything of its owner is read later, and an owner is free again when all that shows it is dead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradsmith.compiler.memory import Array, Memory
from gradsmith.compiler.native import Native, Natives, Places, finish, in_blocks
from gradsmith.runtime.programs.program import Program, Step


def needed_steps(steps: Sequence[Step], outputs: Iterable[int], memory: Memory) -> list[Step]:
    """The steps without which an output, or something outside, would differ."""
    live = set(outputs)
    owners = {memory.owners[slot] for slot in live} | memory.outside
    kept = []
    for step in reversed(steps):
        results = [slot for slot in step.results if slot is not None]
        if step.writes:
            is_needed = memory.owners[results[0]] in owners
        else:
            is_needed = step.has_effects or not live.isdisjoint(results)
        if is_needed:
            kept.append(step)
            live.update(step.reads)
            owners.update(memory.owners[slot] for slot in step.reads)
    return kept[::-1]


def make_program(steps: list[Step], inputs: Sequence[int], outputs: Sequence[int], memory: Memory) -> Program:
    """A program of the steps, with rooms for what stays inside of it, and blocks of what needs no Python."""
    make = Natives(memory)
    natives = {number: native for number, step in enumerate(steps) if (native := make.of(step)) is not None}
    skipped = _views_for_blocks(steps, natives, set(outputs), memory)
    others = [step for number, step in enumerate(steps) if number not in natives and number not in skipped]
    read_elsewhere = set(outputs).union(*[step.reads for step in others])
    lives = _Lives(steps, outputs, memory)
    rooms = _Rooms(memory)
    outside = {memory.owners[slot] for slot in (*inputs, *outputs)}
    for number, step in enumerate(steps):
        native = natives.get(number)
        early = lives.may_be_overwritten(number, step) if native is None or native.may_overwrite else set()
        for owner in early:
            rooms.give_back(owner)
        if _has_room(step, native, outside, memory):
            slot = step.results[0]
            assert slot is not None
            rooms.take(slot, ends_here=lives.last[memory.owners[slot]] == number)
        for owner in lives.ending.get(number, ()):
            rooms.give_back(owner)
    places = Places(memory, dict(rooms.of_slots))
    found, dying = in_blocks(steps, natives, skipped, places, read_elsewhere, lives.dying)
    program = Program(found, len(memory.owners), tuple(inputs), tuple(outputs))
    finish(program, places)
    program.give_rooms(rooms.of_slots, rooms.models, dying)
    return program


def _has_room(step: Step, native: Native | None, outside: set[int], memory: Memory) -> bool:
    if step.writes or not (step.is_loop or native is not None) or step.results[0] is None:
        return False
    return memory.is_own(step.results[0]) and memory.owners[step.results[0]] not in outside


def _views_for_blocks(steps: Sequence[Step], natives: dict[int, Native], outputs: set[int], memory: Memory) -> set[int]:
    """Numbers of the steps whose results are views that blocks alone read."""
    wanted = set(outputs)
    found = set()
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if number in natives:
            continue
        if memory.is_view(step) and wanted.isdisjoint(slot for slot in step.results if slot is not None):
            found.add(number)
        else:
            wanted.update(step.reads)
    return found


class _Lives:
    """How long the memory of values is needed: up to the last step that reads or shows any of it."""

    def __init__(self, steps: Sequence[Step], outputs: Iterable[int], memory: Memory) -> None:
        self.memory = memory
        self.last: dict[int, int] = {}
        shown: dict[int, dict[int, None]] = {}
        for number, step in enumerate(steps):
            for slot in (*step.results, *step.reads):
                if slot is not None:
                    owner = memory.owners[slot]
                    self.last[owner] = number
                    shown.setdefault(owner, {})[slot] = None
        leaving = {memory.owners[slot] for slot in outputs}
        self.ending: dict[int, list[int]] = {}
        self.dying: dict[int, list[int]] = {}
        for owner, number in self.last.items():
            if owner not in leaving:
                self.ending.setdefault(number, []).append(owner)
                self.dying.setdefault(number, []).extend(shown[owner])

    def may_be_overwritten(self, number: int, step: Step) -> set[int]:
        """Owners that end with a step which reads them as a whole, so that a loop may write over what it reads."""
        viewed = {self.memory.owners[slot] for slot in step.reads if not self.memory.is_own(slot)}
        return set(self.ending.get(number, ())) - viewed


class _Rooms:
    """Arrays of a frame, taken and given back in the order of the steps."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.models: list[Array] = []
        self.of_slots: list[tuple[int, int]] = []
        self._room_of: dict[int, int] = {}
        self._free: dict[tuple[Any, ...], list[int]] = {}

    def take(self, slot: int, ends_here: bool) -> None:
        array = self.memory.arrays[slot]
        free = self._free.setdefault(_kind(array), [])
        if free:
            room = free.pop()
        else:
            room = len(self.models)
            self.models.append(array)
        self.of_slots.append((slot, room))
        if ends_here:
            free.append(room)
        else:
            self._room_of[self.memory.owners[slot]] = room

    def give_back(self, owner: int) -> None:
        room = self._room_of.pop(owner, None)
        if room is not None:
            self._free[_kind(self.models[room])].append(room)


def _kind(array: Array) -> tuple[Any, ...]:
    return (array.dtype, array.shape, array.strides)
