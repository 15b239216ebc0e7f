"""Groups of fused steps, written as steps on tiles. See runtime/programs/block.pyx, Note [Tiles]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradsmith.compiler.plans.memory import Array, Memory
from gradsmith.compiler.plans.native import TILE, Native
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
            step, is_double = native.kind.parts[0], native.kind.is_double
            operands = tuple([table.of_operand(one) for one in native.operands])
            out = table.of_operand(native.result)
            for part, size in ((body, TILE), (rest, n % TILE)):
                part.add(steps[number], step.kind, size, is_double, out, operands, step.moving, step.more)
        scratch = self.scratch
        block.add_tiles(Tiles(body, rest, n, TILE, table.places, table.strides, scratch.size, scratch.gaps))


class _Table:
    """Addresses of one thread."""

    def __init__(self, group: TileGroup, places: Places, moving: Moving) -> None:
        self.group, self.all, self.moving = group, places, moving
        self.places: list[int] = []
        self.strides: list[int] = []
        self._known: dict[tuple[int, int], int] = {}

    def of_operand(self, operand: int | Array) -> int:
        if not isinstance(operand, int):
            return self._of(self.all.of_numbers(operand), 0)
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
