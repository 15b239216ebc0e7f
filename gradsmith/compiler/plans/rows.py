"""Steps on long rows: what fused steps do to each tile of them.

Note [Long rows]
Fused steps walk along one dimension, which all of them have. A value is a few rows along it: a vector is one row, three
coordinates of many points are three, whichever dimension comes first in memory. A step is then a few steps on rows, and
it costs nothing to read one row of several, to share a row, or to add up the few. An array that a step walks along as
it lies in memory is one row as well, whatever its dimensions.

The elements of a row may lie in steps, as coordinates of points do that follow one another point by point. They are
laid side by side then, which takes a while, so that such arrays are one row each unless the program tells rows apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradsmith.compiler.plans.memory import Array, Memory
from gradsmith.compiler.plans.native import (
    ADD_AT,
    FLOATS,
    MOST_IN_BLOCK,
    PLACED,
    Natives,
    as_rows,
    axes_of_sum,
    is_dense,
    loop_of,
    numbers_of,
    sizes_of_sum,
)
from gradsmith.runtime.programs.program import Step

MOST_ROWS = 16  # of a value
SHORT = 24  # elements of a row that is summed one after the other, in double
FEW_COLUMNS = 4096  # elements of rows that are added without a block; see kernels/sum_template.h
TEMPORARY = -1  # in the place of a slot: a row that the parts of one step have for themselves


@dataclass(frozen=True)
class Row:
    """A part of a value: how far from its beginning, and from element to element, in bytes; 0 for a single element."""

    slot: int
    shift: int
    stride: int


@dataclass(frozen=True)
class RowPart:
    """What is done to a row.

    moving : which operands are rows, a bit each.
    more : what `Block.add` needs of few kinds.
    """

    kind: str
    out: Row
    operands: tuple[Row | Array, ...]
    moving: int = 0
    more: dict[str, Any] | None = None


@dataclass
class RowStep:
    """A step on rows of `n` elements.

    result : its slot.
    """

    n: int
    result: int
    is_double: bool
    parts: list[RowPart]

    def rows(self) -> list[Row]:
        """All that its parts use."""
        return [one for part in self.parts for one in (part.out, *part.operands) if isinstance(one, Row)]


class RowSteps:
    """Steps as steps on long rows: those of a program, `steps`."""

    def __init__(self, memory: Memory, natives: Natives, steps: Iterable[Step]) -> None:
        self.memory, self.natives = memory, natives
        self._known: dict[int, tuple[Step, RowStep | None]] = {}  # by the step's id, which the step keeps taken
        self._told_apart: set[int] = set()  # lengths of rows
        for step in steps:
            self._note_length(step)
        self._known.clear()

    def _note_length(self, step: Step) -> None:
        slots = [slot for slot in (*step.results, *step.reads) if slot is not None]
        shapes = {self.memory.arrays[slot].shape for slot in slots}
        n = max((_length(shape) for shape in shapes if len(shape) > 1), default=0)
        if n == 0 or n in self._told_apart or self.memory.is_view(step):
            return
        found = self.of(step)
        if found is not None and found.n == n:
            self._told_apart.add(n)

    def of(self, step: Step) -> RowStep | None:
        """The same on rows, if it is one of what these can do."""
        if id(step) not in self._known:
            self._known[id(step)] = step, self._made(step)
        return self._known[id(step)][1]

    def _made(self, step: Step) -> RowStep | None:
        slot = step.results[0] if len(step.results) == 1 else None
        if slot is None or step.function is not None:
            return None
        result, slots = self.memory.arrays[slot], step.loop_inputs if step.is_loop else step.reads
        n = _length(result.shape)
        if result.size <= MOST_IN_BLOCK or result.dtype not in FLOATS:
            return None
        arrays = [self.memory.arrays[one] for one in slots]
        if any(array.dtype != result.dtype or not array.flags.aligned for array in (result, *arrays)):
            return None
        if step.is_loop:
            rows = self._rows_alike((slot, *slots), [result, *arrays])
            parts = None if rows is None or self._reads_what_it_wrote(rows[1]) else self._loops(step, rows)
            n = rows[0] if rows is not None else 0
        elif step.writes or step.name not in _MAKERS or not self.memory.is_own(slot) or n == 0:
            return None
        else:
            parts = _MAKERS[step.name](step, n, (slot, *slots), [result, *arrays])
        if parts is None:
            return None
        found = RowStep(n, slot, result.dtype == FLOATS[1], parts)
        return None if any(row.stride < 0 or row.stride % result.itemsize != 0 for row in found.rows()) else found

    def _rows_alike(self, slots: Sequence[int], arrays: list[Array]) -> tuple[int, list[list[Row]]] | None:
        """Length of rows, and those of a result and of its operands, as many of each."""
        result = arrays[0]
        n = _length(result.shape)
        if n in (0, result.size) or n not in self._told_apart:
            found = _as_they_lie(slots, arrays)
            if found is not None or n == 0:
                return None if found is None else (result.size, found)
        return n, [_rows(slot, n, result.shape, array) for slot, array in zip(slots, arrays)]

    def _reads_what_it_wrote(self, rows: list[list[Row]]) -> bool:
        """Would a row be read after the same step has written it for another row?"""
        outs, *operands = [[self.memory.address_of(row.slot) + row.shift for row in of_one] for of_one in rows]
        number_of = {place: number for number, place in enumerate(outs)}
        return any(number_of.get(place, number) != number for of_one in operands for number, place in enumerate(of_one))

    def _loops(self, step: Step, found: tuple[int, list[list[Row]]]) -> list[RowPart] | None:
        n, (outs, *operands) = found
        dtype = self.memory.arrays[outs[0].slot].dtype
        kind = self.natives.of_row(step, n, [rows[0].stride != 0 for rows in operands], dtype)
        if kind is None:
            return None
        loop, (part,) = loop_of(step), kind.parts
        numbers = kind.numbers if loop[0] == "kernel" else numbers_of(loop, dtype)
        parts = []
        for out, *rows in zip(outs, *operands):
            both = (*numbers, *rows) if kind.number_first else (*rows, *numbers)
            parts.append(RowPart(part.kind, out, both, part.moving, part.more))
        return parts


# ---- values as rows


def _length(shape: tuple[int, ...]) -> int:
    """Of the long dimension; 0 where there is none."""
    n = max(shape, default=0)
    return n if n > MOST_IN_BLOCK and math.prod(shape) <= MOST_ROWS * n else 0


def _as_they_lie(slots: Sequence[int], arrays: list[Array]) -> list[list[Row]] | None:
    """A result and its operands as one row each, if the result is walked along side by side."""
    result = arrays[0]
    if not is_dense(result):
        return None
    found = []
    for slot, array in zip(slots, arrays):
        rows = as_rows(result, [array])
        if rows is None or rows[0] != 1:
            return None
        found.append([Row(slot, 0, rows[2][0])])
    return found


def _rows(slot: int, n: int, shape: tuple[int, ...], array: Array, first: int = 0) -> list[Row]:
    """Those of an array of a shape, in the order of its other dimensions; `first` is added to each shift."""
    strides = np.broadcast_to(array, shape).strides
    axis = shape.index(n)
    others = [range(size) for i, size in enumerate(shape) if i != axis]
    steps = [stride for i, stride in enumerate(strides) if i != axis]
    return [
        Row(slot, first + sum(i * step for i, step in zip(place, steps)), strides[axis])
        for place in itertools.product(*others)
    ]


# ---- parts that are taken out or put together


def _placed(step: Step, n: int, slots: Sequence[int], arrays: list[Array]) -> list[RowPart] | None:
    """Rows of the result are rows of operands, or zeros, or sums of two rows."""
    result, operands = arrays[0], arrays[1:]
    views = PLACED[step.name](step, result, operands)
    if views is None:
        return None
    is_sum = step.name == ADD_AT
    sources: dict[int, Row] = {}
    for view, slot, array in zip(views, slots[2:] if is_sum else slots[1:], operands[1:] if is_sum else operands):
        if view.size == 0:
            continue
        if n not in view.shape or view.shape != array.shape:
            return None
        shift = view.ctypes.data - result.ctypes.data
        ins, outs = _rows(slot, n, view.shape, array), _rows(slots[0], n, view.shape, view, shift)
        if outs[0].stride != result.strides[result.shape.index(n)] or not all(row.stride for row in ins):
            return None
        sources.update(zip([row.shift for row in outs], ins))
    outs = _rows(slots[0], n, result.shape, result)
    if is_sum:
        others = _rows(slots[1], n, result.shape, operands[0])
        return [_sum_or_copy(out, other, sources.get(out.shift)) for out, other in zip(outs, others)]
    return [_copy(out, sources[out.shift]) if out.shift in sources else RowPart("zero", out, ()) for out in outs]


def _copy(out: Row, source: Row) -> RowPart:
    return RowPart("copy", out, (source,), 1)


def _sum_or_copy(out: Row, other: Row, added: Row | None) -> RowPart:
    return _copy(out, other) if added is None else _sum_of(out, other, added)


def _sum_of(out: Row, a: Row, b: Row) -> RowPart:
    return RowPart("add", out, (a, b), 3)


def _cloned(step: Step, n: int, slots: Sequence[int], arrays: list[Array]) -> list[RowPart] | None:
    result, source = arrays
    if source.strides != result.strides or len(slots) != 2:
        return None
    outs, ins = [_rows(slot, n, result.shape, array) for slot, array in zip(slots, arrays)]
    return [_copy(out, row) for out, row in zip(outs, ins)]


# ---- sums over the few


def _summed(step: Step, n: int, slots: Sequence[int], arrays: list[Array]) -> list[RowPart] | None:
    """Row by row in the order of kernels/sum_template.h."""
    result, source = arrays[0], arrays[1]
    sizes = sizes_of_sum(step, source, result)
    if sizes is None or _length(source.shape) != n:
        return None
    how = _order_of_sum(sizes, result.dtype)
    axes = axes_of_sum(step, source, result)
    if how is None or axes is None:
        return None
    kept = [axis for axis in range(source.ndim) if axis not in axes]
    shown = result.reshape([source.shape[axis] for axis in kept])
    summed = sorted(axes, key=lambda axis: -source.strides[axis])
    ordered = source.transpose([*kept, *summed])
    ins, outs = _rows(slots[1], n, ordered.shape, ordered), _rows(slots[0], n, shown.shape, shown)
    each = len(ins) // len(outs)
    return [part for i, out in enumerate(outs) for part in how(out, ins[i * each : (i + 1) * each])]


Order = Callable[[Row, list[Row]], list[RowPart]]


def _order_of_sum(sizes: tuple[int, int, int], dtype: np.dtype[Any]) -> Order | None:
    _, r, inner = sizes
    if r == 1:
        return lambda out, rows: [_copy(out, rows[0])]
    if inner == 1:  # in double
        return _from_zero if dtype == FLOATS[1] and r <= SHORT else None
    if r * inner <= FEW_COLUMNS:
        return _one_by_one
    return _by_fours if inner > FEW_COLUMNS else None


def _one_by_one(out: Row, rows: list[Row]) -> list[RowPart]:
    return [_sum_of(out, *rows[:2]), *[_sum_of(out, out, row) for row in rows[2:]]]


def _from_zero(out: Row, rows: list[Row]) -> list[RowPart]:
    return [_sum_with_zero(out, rows[0]), *[_sum_of(out, out, row) for row in rows[1:]]]


def _sum_with_zero(out: Row, row: Row) -> RowPart:
    """Which is no copy of a negative zero. The number is read as one of either type."""
    return RowPart("add", out, (row, np.zeros(1)), 1)


def _by_fours(out: Row, rows: list[Row]) -> list[RowPart]:
    fours = len(rows) // 4 * 4
    if not fours:
        return _from_zero(out, rows)
    left, right = [Row(TEMPORARY, number, rows[0].stride) for number in range(2)]
    parts = [RowPart("zero", out, ())]
    for i in range(0, fours, 4):
        a, b, c, d = rows[i : i + 4]
        parts += [_sum_of(left, a, b), _sum_of(right, c, d), _sum_of(left, left, right), _sum_of(out, out, left)]
    return [*parts, *[_sum_of(out, out, row) for row in rows[fours:]]]


_MAKERS: dict[str, Callable[[Step, int, Sequence[int], list[Array]], list[RowPart] | None]] = {
    **dict.fromkeys(PLACED, _placed),
    "clone": _cloned,
    "sum": _summed,
    "sum_to": _summed,
}
