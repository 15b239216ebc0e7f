"""Which steps of a trace have to run, and where the values of a program live.

Memory decides both. Values that are views of one another share an owner, the array that has the memory: a write counts
if anything of its owner is read later, and an owner is free again when all that shows it is dead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gradsmith.compiler.plans.blocks import Blocks, groups_of
from gradsmith.compiler.plans.fusing import Fusion
from gradsmith.compiler.plans.guarding import guarded_slots
from gradsmith.compiler.plans.loops import Layout, Loop, find_loops
from gradsmith.compiler.plans.memory import Memory
from gradsmith.compiler.plans.merging import merged, without_copies
from gradsmith.compiler.plans.native import Natives
from gradsmith.compiler.plans.places import Places
from gradsmith.compiler.plans.raising import may_refuse_values
from gradsmith.compiler.plans.rooms import Rooms
from gradsmith.compiler.plans.rows import RowSteps
from gradsmith.compiler.plans.tiles import TileGroup
from gradsmith.runtime.programs.program import Program, Step


def needed_steps(
    steps: Sequence[Step], outputs: Iterable[int], memory: Memory, with_errors: bool = False
) -> list[Step]:
    """The steps without which an output, or something outside, would differ; `with_errors` also what is raised."""
    live = set(outputs)
    owners = {memory.owners[slot] for slot in live} | memory.outside
    has_writes = any(step.writes for step in steps)
    kept = []
    for step in reversed(steps):
        results = [slot for slot in step.results if slot is not None]
        is_read = memory.owners[results[0]] in owners if step.writes else not live.isdisjoint(results)
        is_needed = is_read or step.has_effects  # a draw into memory that nobody reads moves the generator on
        if is_needed or (with_errors and may_refuse_values(step, memory)):
            kept.append(step)
            live.update(step.reads)
            if has_writes:
                owners.update(memory.owners[slot] for slot in step.reads)
    return kept[::-1]


def written_owners(steps: Iterable[Step], memory: Memory) -> set[int]:
    """Owners of memory that a step writes."""
    return {memory.owners[slot] for step in steps if step.writes for slot in step.results if slot is not None}


def make_program(steps: list[Step], inputs: Sequence[int], outputs: Sequence[int], memory: Memory) -> Program:
    """A program of the steps: rooms for what stays inside of it, blocks of what needs no Python, loops in these."""
    plan = _Plan(steps, inputs, outputs, memory.seen_from(inputs, steps))
    plan.give_rooms()
    return plan.program()


class _Plan:
    def __init__(self, steps: list[Step], inputs: Sequence[int], outputs: Sequence[int], memory: Memory) -> None:
        make = Natives(memory)
        steps = merged(without_copies(steps, outputs, memory), outputs, memory, make)
        rows = RowSteps(memory, make, steps)
        steps, self.fused = Fusion(memory, rows.of).ordered(steps)
        self.steps, self.inputs, self.outputs, self.memory = steps, tuple(inputs), tuple(outputs), memory
        self.natives = {number: native for number, step in enumerate(steps) if (native := make.of(step)) is not None}
        self.in_tiles = {number for numbers in self.fused for number in numbers}
        self.on_rows = {n: found for n in self.in_tiles if (found := rows.of(steps[n])) is not None}
        self.in_blocks = self.natives.keys() | self.on_rows.keys()
        self.skipped = _views_for_blocks(steps, self.in_blocks, set(outputs), memory)
        self.groups = groups_of(len(steps), self.in_blocks, self.skipped)
        self.lives = _Lives(steps, self.skipped, outputs, memory)
        self.outside = {memory.owners[slot] for slot in (*inputs, *outputs)}
        self.has_room = [self._stays_inside(number, step) for number, step in enumerate(steps)]
        self.rooms = Rooms()
        self.loops: dict[int, Loop] = {}
        self.tiles: dict[int, TileGroup] = {}

    def give_rooms(self) -> None:
        """Say where each value lives, in the order of the steps."""
        layout = Layout(self.memory, self.natives, self._has_room, self.lives.last, self._overwrites)
        self.loops = self._found_loops(layout)
        self.tiles = {
            numbers[0]: TileGroup(numbers, self.on_rows, self.memory, self._is_inner(numbers)) for numbers in self.fused
        }
        elsewhere = {number for loop in self.loops.values() for number in loop.numbers.ravel().tolist()}
        elsewhere.update(number for group in self.tiles.values() for number in group.inner)
        arena, ends = self.rooms.arena, self._ends()
        freed: dict[int, list[tuple[int, int]]] = {}
        for number in range(len(self.steps)):
            if number in self.loops:
                for end, place, nbytes in layout.place(self.loops[number], arena, self.rooms.places):
                    freed.setdefault(end, []).append((place, nbytes))
            if number not in elsewhere:
                self._give_room(number)
            for owner in ends.get(number, ()):
                self.rooms.give_back(owner)
            for place, nbytes in freed.get(number, ()):
                arena.give_back(place, nbytes)

    def _found_loops(self, layout: Layout) -> dict[int, Loop]:
        found = find_loops(self.natives, [part for group in self.groups for part in _without(group, self.in_tiles)])
        return {int(loop.numbers[0, 0]): loop for loop in map(layout.trim, found.values()) if loop.iterations > 1}

    def _ends(self) -> dict[int, list[int]]:
        """After which steps owners of memory are dead: those that die within a fused group live until its end."""
        end_of = {number: numbers[-1] for numbers in self.fused for number in numbers}
        found: dict[int, list[int]] = {}
        for number, owners in self.lives.ending.items():
            found.setdefault(end_of.get(number, number), []).extend(owners)
        return found

    def _is_inner(self, numbers: range) -> Callable[[int], bool]:
        """Of the number of a fused step: does nothing else read its result?"""

        def is_inner(number: int) -> bool:
            owner = self.memory.owners[self.on_rows[number].result]
            return self._has_room(number) and self.lives.last[owner] in numbers

        return is_inner

    def _give_room(self, number: int) -> None:
        if not self._has_room(number):
            return
        slot = self.steps[number].results[0]
        assert slot is not None
        owner, is_alone = self.memory.owners[slot], number not in self.in_tiles
        for dying in self.lives.ending.get(number, ()):
            if is_alone and self._overwrites(number, dying):
                self.rooms.give_back(dying)
        ends_here = is_alone and self.lives.last[owner] == number
        self.rooms.take(slot, owner, self.memory.arrays[slot].nbytes, ends_here)

    def _has_room(self, number: int) -> bool:
        """Is the result of a step the program's own, in its arena?"""
        return self.has_room[number]

    def _stays_inside(self, number: int, step: Step) -> bool:
        slot = step.results[0] if step.results else None
        if step.writes or slot is None or not (step.is_loop or number in self.in_blocks):
            return False
        return self.memory.is_own(slot) and self.memory.owners[slot] not in self.outside

    def _overwrites(self, number: int, owner: int) -> bool:
        """May a step write its result over memory that it is the last one to read, element by element?"""
        native, step, memory = self.natives.get(number), self.steps[number], self.memory
        if native is not None and not native.kind.may_overwrite:
            return False
        layout = memory.layouts[step.results[0]]  # type: ignore[index]
        shown = [slot for slot in step.reads if memory.owners[slot] == owner]
        return self.lives.last[owner] == number and all(
            memory.is_own(slot) and memory.layouts[slot] == layout for slot in shown
        )

    def program(self) -> Program:
        others = [step for n, step in enumerate(self.steps) if n not in self.in_blocks and n not in self.skipped]
        read_elsewhere = set(self.outputs).union(*[step.reads for step in others])
        places = Places(self.memory, self.rooms.places)
        blocks = Blocks(self.steps, self.natives, self.loops, self.tiles, places, read_elsewhere, set(self.inputs))
        for step in others:
            if step.is_loop and step.writes and (base := self.memory.place_of(step.results[0])[0]) in self.inputs:  # type: ignore[arg-type]
                step.count_writes_to(base)
        found, places_of = blocks.in_order(self.groups, self.skipped)
        arrays = {*self.inputs, *self.outputs, *blocks.shown, *blocks.fresh, *read_elsewhere}
        arrays.update(slot for step in others for slot in step.results if slot is not None)
        dying: dict[int, list[int]] = {}
        for number, slots in self.lives.dying(arrays).items():
            dying.setdefault(places_of[number], []).extend(slots)
        shown = [*blocks.shown, *[step.results[0] for step in others if step.is_loop and step.results[0] is not None]]
        models = [
            (slot, self.rooms.places[slot], self.memory.arrays[slot]) for slot in shown if slot in self.rooms.places
        ]
        program = Program(found, len(self.memory.owners), self.inputs, self.outputs)
        program.give_addresses(places.in_arena, places.constants, places.count)
        program.give_rooms(models, self.rooms.arena.size, self.rooms.arena.gaps, dying)
        program.guard(guarded_slots(found, set(self.inputs), self.memory))
        return program


def _without(numbers: Sequence[int], others: set[int]) -> list[list[int]]:
    """The parts of a sequence between the others."""
    parts: list[list[int]] = [[]]
    for number in numbers:
        if number in others:
            parts.append([])
        else:
            parts[-1].append(number)
    return [part for part in parts if part]


def _views_for_blocks(steps: Sequence[Step], in_blocks: set[int], outputs: set[int], memory: Memory) -> set[int]:
    """Numbers of the steps whose results are views that blocks alone read."""
    wanted = set(outputs)
    found = set()
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if number in in_blocks:
            continue
        if memory.is_view(step) and wanted.isdisjoint(slot for slot in step.results if slot is not None):
            found.add(number)
        else:
            wanted.update(step.reads)
    return found


class _Lives:
    """How long the memory of values is needed: up to the last step that reads or shows any of it.

    Steps that are skipped, views, show nothing by themselves.
    """

    def __init__(self, steps: Sequence[Step], skipped: set[int], outputs: Iterable[int], memory: Memory) -> None:
        self.owners = memory.owners
        self.last: dict[int, int] = {}
        for number, step in enumerate(steps):
            if number in skipped:
                continue
            for slot in step.reads:
                self.last[self.owners[slot]] = number
            for result in step.results:
                if result is not None:
                    self.last[self.owners[result]] = number
        self.leaving = {self.owners[slot] for slot in outputs}
        self.ending: dict[int, list[int]] = {}
        for owner, number in self.last.items():
            if owner not in self.leaving:
                self.ending.setdefault(number, []).append(owner)

    def dying(self, slots: Iterable[int]) -> dict[int, list[int]]:
        """After which steps values are not needed any more, of those that are arrays in a run."""
        found: dict[int, list[int]] = {}
        for slot in slots:
            owner = self.owners[slot]
            if owner in self.last and owner not in self.leaving:
                found.setdefault(self.last[owner], []).append(slot)
        return found
