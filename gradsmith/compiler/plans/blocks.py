"""Blocks: steps that need no arrays, put together."""

from __future__ import annotations

from collections.abc import Sequence

from gradsmith.compiler.plans.loops import Loop, Roller
from gradsmith.compiler.plans.memory import Array
from gradsmith.compiler.plans.native import Native
from gradsmith.compiler.plans.places import Moving, Places
from gradsmith.compiler.plans.tiles import TileGroup
from gradsmith.runtime.programs.block import Block
from gradsmith.runtime.programs.program import Step, block_step


def groups_of(n_steps: int, in_blocks: set[int], skipped: set[int]) -> list[list[int]]:
    """Numbers of steps of blocks that follow one another, group by group. Skipped ones do nothing."""
    found: list[list[int]] = [[]]
    for number in range(n_steps):
        if number in in_blocks:
            found[-1].append(number)
        elif number not in skipped and found[-1]:
            found.append([])
    return found if found[-1] else found[:-1]


class Blocks:
    """Makes the blocks of a program.

    Parameters
    ----------
    steps : sequence of Step
    natives : dict of int to Native
    loops : dict of int to Loop
        By their first steps.
    tiles : dict of int to TileGroup
        By their first steps.
    places : Places
    read_elsewhere : set of int
        Slots that steps outside of blocks read.
    inputs : set of int
        Slots of tensors from outside.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        natives: dict[int, Native],
        loops: dict[int, Loop],
        tiles: dict[int, TileGroup],
        places: Places,
        read_elsewhere: set[int],
        inputs: set[int],
    ) -> None:
        self.inputs = inputs
        self.inner = {number for group in tiles.values() for number in group.inner}
        self.steps, self.natives, self.loops, self.tiles = steps, natives, loops, tiles
        self.places, self.read_elsewhere = places, read_elsewhere
        self.shown: list[int] = []
        self.fresh: list[int] = []

    def in_order(self, groups: Sequence[Sequence[int]], skipped: set[int]) -> tuple[list[Step], list[int]]:
        """Steps with blocks in the place of native ones, and which of them has done what each step does."""
        first_of = {group[0]: group for group in groups}
        in_groups = {number for group in groups for number in group}
        found: list[Step] = []
        done: list[int] = []
        for number, step in enumerate(self.steps):
            if number in first_of:
                found.append(block_step(self._block(first_of[number])))
            elif number not in in_groups and number not in skipped:
                found.append(step)
            done.append(max(len(found) - 1, 0))
        return found, done

    def _block(self, group: Sequence[int]) -> Block:
        block = Block()
        moving: Moving = {}
        for number in group:
            self._note_result(block, number)
        position = 0
        while position < len(group):
            loop, tiles = self.loops.get(group[position]), self.tiles.get(group[position])
            if tiles is not None:
                tiles.write(block, self.steps, self.places, moving)
                position += len(tiles.numbers)
            elif loop is None:
                self._add(block, group[position], moving)
                position += 1
            else:
                Roller(loop, self.natives, self.places, moving).write(block, self.steps)
                position += loop.numbers.size
        block.set_moving(list(moving.values()))
        return block

    def _note_result(self, block: Block, number: int) -> None:
        """A result that leaves the block is a new array, or one that shows its room."""
        slot = self.steps[number].results[0]
        assert slot is not None
        if self.steps[number].writes:
            base, _ = self.places.memory.place_of(slot)
            if base in self.inputs and base not in block.counted:
                block.counted.append(base)
            return
        room = self.places.rooms.get(slot)
        if number in self.inner:
            return
        if room is None:
            block.fresh.append((slot, self._array(slot)))
            self.fresh.append(slot)
        elif slot in self.read_elsewhere:
            block.shown.append(slot)
            self.shown.append(slot)

    def _array(self, slot: int) -> Array:
        return self.places.memory.arrays[slot]

    def _add(self, block: Block, number: int, moving: Moving) -> None:
        native, places = self.natives[number], self.places
        for part, shift in zip(native.kind.parts, native.shifts):
            operands = tuple(
                [
                    places.of_slot(one[0], moving, one[1]) if isinstance(one, tuple) else places.of_numbers(one)
                    for one in native.inputs(part)
                ]
            )
            out = places.of_slot(native.result, moving, shift)
            block.add(
                self.steps[number], part.kind, part.n, native.kind.is_double, out, operands, part.moving, part.more
            )
