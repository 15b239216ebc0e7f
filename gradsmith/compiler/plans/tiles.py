"""Groups of fused steps, written as steps on tiles. See runtime/programs/block.pyx, Note [Tiles]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradsmith.compiler.plans.memory import Array, Memory
from gradsmith.compiler.plans.native import TILE, Native, step_of_elements
from gradsmith.compiler.plans.places import Moving, Places
from gradsmith.compiler.plans.rooms import Arena
from gradsmith.runtime.programs.block import Block, Tiles
from gradsmith.runtime.programs.program import Step

IN_SCRATCH = -1


class TileGroup:
    """Steps that run together, tile by tile.

    Parameters
    ----------
    numbers : range
        Of the steps.
    is_inner : callable
        Of a step's number: is its result read by these steps alone? It then has a row of scratch memory and no array.
    """

    def __init__(
        self, numbers: range, natives: dict[int, Native], memory: Memory, is_inner: Callable[[int], bool]
    ) -> None:
        self.numbers, self.natives, self.memory = numbers, natives, memory
        self.scratch = Arena()
        self.rows = self._rows([number for number in numbers if is_inner(number)])

    def inner_numbers(self) -> list[int]:
        return [number for number in self.numbers if self.natives[number].result in self.rows]

    def _rows(self, inner: list[int]) -> dict[int, int]:
        """Slot -> place in the scratch memory; values that never live at the same time share one."""
        owners = self.memory.owners
        made = {owners[self.natives[number].result] for number in inner}
        last = {owners[slot]: number for number in self.numbers for slot in self._slots(number)}
        rows: dict[int, int] = {}
        place_of: dict[int, int] = {}
        for number in self.numbers:
            slot = self.natives[number].result
            nbytes = TILE * self.memory.arrays[slot].itemsize
            if owners[slot] in made:
                if owners[slot] not in place_of:
                    place_of[owners[slot]] = self.scratch.take(nbytes)
                rows[slot] = place_of[owners[slot]]
            for owner in {owners[one] for one in self._slots(number)}:
                if owner in place_of and last[owner] == number:
                    self.scratch.give_back(place_of[owner], nbytes)
        return rows

    def _slots(self, number: int) -> list[int]:
        native = self.natives[number]
        return [*[one for one in native.operands if isinstance(one, int)], native.result]

    def write(self, block: Block, steps: Sequence[Step], places: Places, moving: Moving) -> None:
        table = _Table(self, places, moving)
        n = self.natives[self.numbers[0]].kind.parts[0].n
        body, rest = Block(), Block()
        for number in self.numbers:
            native = self.natives[number]
            for slot in dict.fromkeys(one for one in native.operands if isinstance(one, int)):
                self._lay_side_by_side(slot, table, ((body, TILE), (rest, n % TILE)))
            step, is_double = native.kind.parts[0], native.kind.is_double
            operands = tuple([table.of_operand(one) for one in native.operands])
            out = table.of_operand(native.result)
            for part, size in ((body, TILE), (rest, n % TILE)):
                part.add(steps[number], step.kind, size, is_double, out, operands, step.moving, step.more)
        scratch = self.scratch
        block.add_tiles(Tiles(body, rest, n, TILE, table.places, table.strides, scratch.size, scratch.gaps))

    def _lay_side_by_side(self, slot: int, table: _Table, blocks: Sequence[tuple[Block, int]]) -> None:
        """An operand whose elements lie in steps: nothing in the tiles writes to it, see fusing.py."""
        memory = self.memory
        array, result = memory.arrays[slot], memory.arrays[self.natives[self.numbers[0]].result]
        stride = step_of_elements(array, result)
        if stride is None or slot in table.rows:
            return
        source = table.of_steps(slot, stride)
        out = table.of_row(slot, self.scratch.take_unused(TILE * array.itemsize))
        more = {"strides": [stride, array.itemsize]}
        for block, size in blocks:
            block.add(f"elements of %{slot} side by side", "move", size, array.itemsize == 8, out, (source,), 1, more)


class _Table:
    """Addresses of one thread.

    Attributes
    ----------
    rows : dict of int to int
        Slots of operands that have been laid side by side -> their rows of scratch memory.
    """

    def __init__(self, group: TileGroup, places: Places, moving: Moving) -> None:
        self.group, self.all, self.moving = group, places, moving
        self.places: list[int] = []
        self.strides: list[int] = []
        self.rows: dict[int, int] = {}
        self._known: dict[tuple[int, int], int] = {}

    def of_row(self, slot: int, place: int) -> int:
        self.rows[slot] = place
        return self._of(IN_SCRATCH, place)

    def of_steps(self, slot: int, stride: int) -> int:
        return self._of(self.all.of_slot(slot, self.moving), TILE * stride)

    def of_operand(self, operand: int | Array) -> int:
        if not isinstance(operand, int):
            return self._of(self.all.of_numbers(operand), 0)
        if operand in self.rows:
            return self._of(IN_SCRATCH, self.rows[operand])
        base, _ = self.group.memory.place_of(operand)
        if base in self.group.rows:
            return self._of(IN_SCRATCH, self.group.rows[base])
        array = self.group.memory.arrays[operand]
        is_single = all(stride == 0 or n == 1 for stride, n in zip(array.strides, array.shape))
        return self._of(self.all.of_slot(operand, self.moving), 0 if is_single else TILE * array.itemsize)

    def _of(self, place: int, stride: int) -> int:
        number = self._known.setdefault((place, stride), len(self.places))
        if number == len(self.places):
            self.places.append(place)
            self.strides.append(stride)
        return number
