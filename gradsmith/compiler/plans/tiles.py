"""Groups of fused steps, written as steps on tiles. See runtime/programs/block.pyx, Note [Tiles]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradsmith.compiler.plans.memory import Array, Memory
from gradsmith.compiler.plans.native import TILE
from gradsmith.compiler.plans.places import Moving, Places
from gradsmith.compiler.plans.rooms import Arena
from gradsmith.compiler.plans.rows import TEMPORARY, Row, RowPart, RowStep
from gradsmith.runtime.programs.block import Block, Tiles
from gradsmith.runtime.programs.program import Step

IN_SCRATCH = -1

# Of a row: its address and stride in the traced run; or what is no value's, and its number.
Key = tuple[int, int]


@dataclass
class _Part:
    """A part of a step.

    first_read : list of Row
        Rows that have a place in scratch memory and are to be laid there before.
    last : set of Key
        Those that nothing uses after it.
    ends_row : bool
        Is it the last one of its step on this row of the result?
    """

    step: int
    part: RowPart
    first_read: list[Row]
    last: set[Key]
    ends_row: bool


class TileGroup:
    """Steps that run together, tile by tile.

    A row that only these steps see, or whose elements lie in steps, has a place in scratch memory. What lies in steps
    is laid side by side when it is read first, and written to where it belongs when it is made.

    Parameters
    ----------
    numbers : range
        Of the steps.
    found : dict of int to RowStep
        By numbers.
    is_inner : callable
        Of a step's number: is its result read by these steps alone? It then has no array.
    """

    def __init__(
        self, numbers: range, found: dict[int, RowStep], memory: Memory, is_inner: Callable[[int], bool]
    ) -> None:
        self.numbers, self.found, self.memory = numbers, found, memory
        self.inner = {number for number in numbers if is_inner(number)}
        self.made = {memory.owners[found[number].result] for number in self.inner}

    def key(self, row: Row) -> Key | None:
        """Of a row in the scratch memory; None for one that is used where it lies."""
        if row.slot == TEMPORARY:
            return TEMPORARY, row.shift
        is_dense = row.stride in (0, self.memory.arrays[row.slot].itemsize)
        if is_dense and self.memory.owners[row.slot] not in self.made:
            return None
        return self.memory.address_of(row.slot) + row.shift, row.stride

    def parts(self) -> list[_Part]:
        found: list[_Part] = []
        seen: set[Key] = set()
        for number in self.numbers:
            parts = self.found[number].parts
            first: dict[Key, Row] = {}
            for part in parts:
                read = [(key, row) for row in _rows(part.operands) if (key := self.key(row)) is not None]
                first.update((key, row) for key, row in read if key not in seen)
                seen.update([key for key, _ in read])
                if (key := self.key(part.out)) is not None:
                    seen.add(key)
            ends = {part.out: place for place, part in enumerate(parts)}
            for place, part in enumerate(parts):
                found.append(_Part(number, part, list(first.values()), set(), ends[part.out] == place))
                first = {}
        later: set[Key] = set()
        for one in reversed(found):
            rows = (*_rows(one.part.operands), one.part.out)
            keys = {key for row in rows if (key := self.key(row)) is not None}
            one.last = keys - later
            later |= keys
        return found

    def write(self, block: Block, steps: Sequence[Step], places: Places, moving: Moving) -> None:
        n, table = self.found[self.numbers[0]].n, _Table(places, moving)
        writer = _Writer(self, n, table, steps)
        for part in self.parts():
            writer.add(part)
        scratch = writer.scratch
        block.add_tiles(
            Tiles(writer.body, writer.rest, n, TILE, table.places, table.strides, scratch.size, scratch.gaps)
        )


def _rows(operands: Sequence[Row | Array]) -> list[Row]:
    return [one for one in operands if isinstance(one, Row)]


class _Writer:
    """Writes the steps on one tile, and on what is left over at the end."""

    def __init__(self, group: TileGroup, n: int, table: _Table, steps: Sequence[Step]) -> None:
        self.group, self.table, self.steps = group, table, steps
        self.body, self.rest, self.n_rest = Block(), Block(), n % TILE
        self.scratch = Arena()
        self.rows: dict[Key, tuple[int, int]] = {}  # place and bytes

    def add(self, one: _Part) -> None:
        part, step, key = one.part, self.group.found[one.step], self.group.key(one.part.out)
        size = 8 if step.is_double else 4
        for row in one.first_read:
            place = self._place(self.group.key(row), size)  # type: ignore[arg-type]
            more = {"strides": [row.stride, size]}
            label = f"elements of %{row.slot} side by side"
            self._write(label, "move", size, place, (self.table.of_row(row),), 1, more)
        operands = tuple([self._operand(operand) for operand in part.operands])
        self._give_back(one.last - {key})  # the result may lie where an operand does
        out = self.table.of_row(part.out) if key is None else self._place(key, size)
        if part.kind != "copy" or operands != (out,):
            self._write(self.steps[one.step], part.kind, size, out, operands, part.moving, part.more)
        if key is not None and one.ends_row and self._is_outside(part.out):
            more = {"strides": [size, part.out.stride]}
            self._write(self.steps[one.step], "move", size, self.table.of_row(part.out), (out,), 1, more)
        self._give_back(one.last & {key})

    def _is_outside(self, row: Row) -> bool:
        return row.slot != TEMPORARY and self.group.memory.owners[row.slot] not in self.group.made

    def _place(self, key: Key, size: int) -> int:
        """The number of a row in scratch memory."""
        if key not in self.rows:
            self.rows[key] = self.scratch.take(TILE * size), TILE * size
        return self.table.of_scratch(self.rows[key][0])

    def _give_back(self, keys: Iterable[Key | None]) -> None:
        for key in keys:
            if key in self.rows:
                self.scratch.give_back(*self.rows.pop(key))

    def _operand(self, operand: Row | Array) -> int:
        if not isinstance(operand, Row):
            return self.table.of_numbers(operand)
        key = self.group.key(operand)
        return self.table.of_row(operand) if key is None else self.table.of_scratch(self.rows[key][0])

    def _write(
        self, step: Step | str, kind: str, size: int, out: int, operands: tuple[int, ...], moving: int,
        more: dict[str, Any] | None,
    ) -> None:  # fmt: skip
        in_bytes = size if kind in ("copy", "zero") else 1
        for block, n in ((self.body, TILE), (self.rest, self.n_rest)):
            block.add(step, kind, n * in_bytes, size == 8, out, operands, moving, more)


class _Table:
    """Addresses of one thread."""

    def __init__(self, places: Places, moving: Moving) -> None:
        self.all, self.moving = places, moving
        self.places: list[int] = []
        self.strides: list[int] = []
        self._known: dict[tuple[int, int], int] = {}

    def of_row(self, row: Row) -> int:
        """Of one that lies outside of scratch memory."""
        return self._of(self.all.of_slot(row.slot, self.moving, row.shift), TILE * row.stride)

    def of_scratch(self, place: int) -> int:
        return self._of(IN_SCRATCH, place)

    def of_numbers(self, numbers: Array) -> int:
        return self._of(self.all.of_numbers(numbers), 0)

    def _of(self, place: int, stride: int) -> int:
        number = self._known.setdefault((place, stride), len(self.places))
        if number == len(self.places):
            self.places.append(place)
            self.strides.append(stride)
        return number
