"""Steps that need no arrays: what they are in a block."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradsmith.compiler.plans.memory import Memory
from gradsmith.runtime.arrays.array import inner_loop, kernel_addresses
from gradsmith.runtime.programs.block import ADD, ARITHMETIC, MOST_ELEMENTS, MOST_INPUTS, MULTIPLY, POWER, POWERS
from gradsmith.runtime.programs.program import Slot, Step

Array = np.ndarray[Any, Any]

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
MOST_IN_BLOCK = 1 << 14  # elements of a result; a larger one is worth threads
# The same of the gradient of a part: added to an array that exists, it takes half of what a new array would.
MOST_PLACED = 1 << 24
SHORT = 16  # elements of a row that is not worth a call, where rows are many
TILE = 1 << 10  # elements of such a one that fused steps do at a time
MOST_TERMS = 1 << 18  # of a product of matrices, m * k * n
# Gradients that are one product, or a change of sign.
SIMPLE = {
    "mul_tensor_backward_self": "multiply",
    "mul_tensor_backward_other": "multiply",
    "mul_scalar_backward_self": "multiply",
    "add_alpha_tensor_backward_other": "multiply",
    "neg_backward_self": "negate",
    "sub_tensor_tensor_backward_other": "negate",
    "sub_scalar_tensor_backward_other": "negate",
}
KERNELS = kernel_addresses()


RESULT = -1  # in the place of an operand's number: what is there of the result


@dataclass(frozen=True)
class Part:
    """One thing that a step of a block does.

    moving : which operands are rows, not one element, a bit each.
    more : what `Block.add` needs of few kinds.
    operands : which of the step's it reads; all of them where it is None.
    """

    kind: str
    n: int
    moving: int = 0
    more: dict[str, Any] | None = None
    operands: tuple[int, ...] | None = None


@dataclass
class Kind:
    """What steps of the same loop over arrays of the same layouts have in common.

    numbers : operands beside the arrays, of a kernel.
    number_first : does a ufunc's number come before its array?
    may_overwrite : may the result lie where an operand does?
    """

    parts: tuple[Part, ...]
    numbers: tuple[Array, ...] = ()
    number_first: bool = False
    may_overwrite: bool = True
    is_double: bool = True


@dataclass
class Native:
    """A step of a block, whose operands are slots or numbers.

    shifts : of each part, how far from the beginning of the result it writes, in bytes.
    """

    kind: Kind
    result: int
    operands: list[Any]
    shifts: tuple[int, ...] = (0,)

    def inputs(self, part: Part) -> list[tuple[int, int] | Array]:
        """Operands of a part: slots with distances in bytes, and numbers."""
        if part.operands is None:
            return [(one, 0) if isinstance(one, int) else one for one in self.operands]
        shift = self.shifts[self.kind.parts.index(part)]
        return [(self.result, shift) if one == RESULT else (self.operands[one], 0) for one in part.operands]


class Natives:
    """Steps as steps of blocks. Most of a long program are of few kinds."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._kinds: dict[Any, Kind | None] = {}

    def of(self, step: Step) -> Native | None:
        """The same as a step of a block, if it can be one."""
        if step.function is not None or len(step.results) != 1 or step.results[0] is None:
            return None
        if step.is_loop:
            return self._of_loop(step, step.results[0])
        if step.writes and step.name == "copy_" and isinstance(step.operands[1], Slot):
            return self._of_copy(step, step.results[0])
        if step.writes or step.name not in _MAKERS or not self.memory.is_own(step.results[0]):
            return None
        return self._of_op(step, step.results[0])

    def _of_copy(self, step: Step, slot: int) -> Native | None:
        """A write of one value into the memory of another."""
        source = step.reads[1]
        if self.memory.owners[source] == self.memory.owners[slot]:
            return None
        kind = self._known((("copy_",), slot, [source]), _kind_of_copy)
        return None if kind is None else Native(kind, slot, [source])

    def of_row(self, step: Step, n: int, moving: Sequence[bool], dtype: np.dtype[Any]) -> Kind | None:
        """The kind of a loop over a row of `n` adjacent elements, whose operands are such rows or single elements."""
        loop = loop_of(step)
        key = ("row", n, tuple(moving), dtype, *_sign(step.name, loop))
        if key not in self._kinds:
            single = np.zeros(1, dtype)
            row, one = [np.lib.stride_tricks.as_strided(single, (n,), (stride,)) for stride in (dtype.itemsize, 0)]
            arrays = [row if moves else one for moves in moving]
            self._kinds[key] = _kind_of_loop(step.name, loop, arrays, row, any_size=True)
        return self._kinds[key]

    def _of_loop(self, step: Step, slot: int) -> Native | None:
        loop, slots, memory = loop_of(step), step.loop_inputs, self.memory
        kind = self._known(
            (_sign(step.name, loop), slot, slots), lambda result, arrays: _kind_of_loop(step.name, loop, arrays, result)
        )
        if kind is None:
            return None
        for one in slots:
            if memory.owners[one] == memory.owners[slot] and memory.overlaps_otherwise(one, slot):
                return None
        numbers = kind.numbers if loop[0] == "kernel" else numbers_of(loop, memory.arrays[slots[0]].dtype)
        return Native(kind, slot, [*numbers, *slots] if kind.number_first else [*slots, *numbers])

    def _of_op(self, step: Step, slot: int) -> Native | None:
        if step.name in PLACED:
            return self._of_placed(step, slot)
        attributes = tuple([repr(operand) for operand in step.operands if not isinstance(operand, Slot)])
        kind = self._known(
            ((step.name, *attributes), slot, step.reads), lambda result, arrays: _kind_of_op(step, arrays, result)
        )
        return None if kind is None else Native(kind, slot, step.reads)

    def _of_placed(self, step: Step, slot: int) -> Native | None:
        """What writes operands to parts of its result, wherever these are."""
        result, arrays = self.memory.arrays[slot], [self.memory.arrays[one] for one in step.reads]
        views = PLACED[step.name](step, result, arrays)
        if views is None:
            return None
        name = (step.name, *[(view.shape, view.strides) for view in views])
        kind = self._known(
            (name, slot, step.reads), lambda result, arrays: _kind_of_placed(step, views, arrays, result)
        )
        if kind is None:
            return None
        start = result.ctypes.data
        shifts = tuple([view.ctypes.data - start for view in views])
        return Native(kind, slot, step.reads, (0,) * (len(kind.parts) - len(shifts)) + shifts)

    def _known(
        self, what: tuple[Any, int, list[int]], make: Callable[[Array, list[Array]], Kind | None]
    ) -> Kind | None:
        """The kind of a step, which is made once for each of its name and layouts."""
        name, slot, slots = what
        layouts, arrays = self.memory.layouts, self.memory.arrays
        key = (name, layouts[slot], *[layouts[one] for one in slots])
        if key not in self._kinds:
            kind = make(arrays[slot], [arrays[one] for one in slots])
            if kind is not None:
                kind.is_double = arrays[slots[0]].dtype == FLOATS[1]
            self._kinds[key] = kind
        return self._kinds[key]


def _sign(name: str, loop: tuple[Any, ...]) -> tuple[Any, ...]:
    """What loops of one kind have in common, on arrays of the same layouts. The number of a ufunc is an operand."""
    if loop[0] == "kernel":
        return (name, loop[1], *map(repr, loop[2]))
    return (loop[0], loop[1], *map(type, loop[2:]))


def loop_of(step: Step) -> tuple[Any, ...]:
    """The loop behind a step, with a power as the function that computes it."""
    loop = step.loop
    assert loop is not None
    return ("unary", POWERS[loop[2]]) if loop[:2] == ("number_last", POWER) and loop[2] in POWERS else loop


def numbers_of(loop: tuple[Any, ...], dtype: np.dtype[Any]) -> tuple[Array, ...]:
    """Those that a ufunc is given."""
    return tuple([np.array(number, dtype) for number in loop[2:]])


# ---- loops


def _kind_of_loop(
    name: str, loop: tuple[Any, ...], arrays: list[Array], result: Array, any_size: bool = False
) -> Kind | None:
    dtype = arrays[0].dtype
    if not 0 < result.size <= (result.size if any_size else MOST_IN_BLOCK) or not is_dense(result):
        return None
    if dtype not in FLOATS or len(arrays) > MOST_INPUTS or any(array.dtype != dtype for array in arrays):
        return None
    return _kind_of_kernel(name, loop, arrays, result) if loop[0] == "kernel" else _kind_of_ufunc(loop, arrays, result)


def _kind_of_ufunc(loop: tuple[Any, ...], arrays: list[Array], result: Array) -> Kind | None:
    ufunc, dtype, is_first = loop[1], arrays[0].dtype, loop[0] == "number_first"
    numbers: tuple[Array, ...] = ()
    if len(loop) == 3:
        if ufunc == POWER or isinstance(loop[2], complex):
            return None
        numbers = numbers_of(loop, dtype)
        arrays = [*numbers, *arrays] if is_first else [*arrays, *numbers]
    found, rows = inner_loop(ufunc, dtype.num), as_rows(result, arrays)
    if found is None or found[2] != result.dtype.num or rows is None:
        return None
    count, n, strides, row_strides = rows
    steps = {"rows": count, "strides": strides, "row_strides": row_strides}
    if ufunc in ARITHMETIC and (n == 1 or _are_rows(strides, dtype.itemsize)):
        more = None if count == 1 else steps
        return Kind((Part(ARITHMETIC[ufunc], n, _moving(strides), more),), number_first=is_first)
    if n == 1:  # a dense row of one, as everywhere: some loops of NumPy's round otherwise where elements lie apart
        steps["strides"] = [array.itemsize for array in (*arrays, result)]
    more = {"function": found[0], "data": found[1], **steps}
    return Kind((Part("loop", n, 0, more),), number_first=is_first)


def _are_rows(strides: list[int], size: int) -> bool:
    """Are operands dense, or one element each, and the result dense?"""
    return strides[-1] == size and all(stride in (0, size) for stride in strides[:-1])


def _kind_of_kernel(name: str, loop: tuple[Any, ...], arrays: list[Array], result: Array) -> Kind | None:
    if name in SIMPLE and len(arrays) == 2 and not loop[2]:
        return _kind_of_ufunc(("binary", MULTIPLY), arrays, result)
    rows = as_rows(result, arrays)
    if rows is None or rows[0] != 1 or any(stride not in (0, result.itemsize) for stride in rows[2]):
        return None
    _, n, strides, _ = rows
    moving = _moving(strides)
    if name in SIMPLE and len(arrays) + len(loop[2]) == (1 if SIMPLE[name] == "negate" else 2):
        numbers = tuple([np.array(number, result.dtype) for number in loop[2]])
        return Kind((Part(SIMPLE[name], n, moving),), numbers)
    if n > 1 and (TILE if n > MOST_IN_BLOCK else n) * (len(arrays) - moving.bit_count()) > MOST_ELEMENTS:
        return None
    more = {"function": loop[1][int(result.dtype == FLOATS[1])], "numbers": loop[2]}
    return Kind((Part("kernel", n, moving, more),))


def _moving(strides: list[int]) -> int:
    """A bit for each operand that is a row; the result comes last."""
    found: int = 0
    for i, stride in enumerate(strides[:-1]):
        found |= (stride != 0) << i
    return found


def is_dense(array: Array) -> bool:
    """Does it fill its part of memory, in whatever order?"""
    return array.flags.c_contiguous or array.flags.f_contiguous or _size_of_span(array) == array.size * array.itemsize


def _size_of_span(array: Array) -> int:
    return int(array.itemsize + sum([abs(step) * (n - 1) for step, n in zip(array.strides, array.shape)]))


def as_rows(result: Array, arrays: Sequence[Array]) -> tuple[int, int, list[int], list[int]] | None:
    """Number and length of rows that all walk along, and the steps within and between rows; the result's last."""
    try:
        strides = [np.broadcast_to(array, result.shape).strides for array in arrays] + [result.strides]
    except ValueError:
        return None
    dims = [(n, [one[axis] for one in strides]) for axis, n in enumerate(result.shape) if n != 1]
    dims.sort(key=lambda dim: -dim[1][-1])
    merged: list[tuple[int, list[int]]] = []
    for n, steps in dims:
        if merged and all(outer == inner * n for outer, inner in zip(merged[-1][1], steps)):
            merged[-1] = (merged[-1][0] * n, steps)
        else:
            merged.append((n, steps))
    if len(merged) > 2:
        return None
    while len(merged) < 2:
        merged.insert(0, (1, [0] * len(strides)))
    (count, row_strides), (n, within) = merged
    if n < SHORT < count:
        (count, row_strides), (n, within) = (n, within), (count, row_strides)
    return count, n, within, row_strides


# ---- products and sums


def _kind_of_op(step: Step, arrays: list[Array], result: Array) -> Kind | None:
    if result.dtype not in FLOATS or not result.flags.c_contiguous or not 0 < result.size <= MOST_IN_BLOCK:
        return None
    make = _MAKERS[step.name]
    return None if make is None else make(step, arrays, result)


def _of_product(step: Step, arrays: list[Array], result: Array) -> Kind | None:
    if len(arrays) != 2:
        return None
    if arrays[0].ndim > 2 and (tall := _one_tall_matrix(arrays[0])) is not None:
        arrays = [tall, arrays[1]]
    if any(array.ndim not in (1, 2) for array in arrays):
        return None
    is_vector = [array.ndim == 1 for array in arrays]
    a = arrays[0][None, :] if is_vector[0] else arrays[0]
    b = arrays[1][:, None] if is_vector[1] else arrays[1]
    return _product_of(a, b, (*_steps(a, is_vector[0], 0), *_steps(b, is_vector[1], 1)), result)


def _one_tall_matrix(stack: Array) -> Array | None:
    """Matrices stacked without gaps as one, where kernels/products/matmul.c multiplies them so."""
    *batch, rows, columns = stack.shape
    *steps, step, inner = stack.strides
    if rows == 1 and step != columns * stack.itemsize and columns != 1:
        return None  # the step of a single row says nothing
    expected = step * rows
    for n, one in zip(reversed(batch), reversed(steps)):
        if n != 1 and one != expected:
            return None
        expected *= n
    return np.lib.stride_tricks.as_strided(stack, (rows * math.prod(batch), columns), (step, inner), writeable=False)


def _of_transpose(step: Step, arrays: list[Array], result: Array) -> Kind | None:
    if len(arrays) != 2 or any(array.ndim != 2 for array in arrays):
        return None
    a, b = arrays[0].T, arrays[1]
    return _product_of(a, b, (*a.strides, *b.strides), result)


def _product_of(a: Array, b: Array, strides: tuple[int, ...], result: Array) -> Kind | None:
    """Of two matrices."""
    if any(one.dtype != result.dtype or not one.flags.aligned for one in (a, b)):
        return None
    sizes = (a.shape[0], a.shape[1], b.shape[1])
    if a.shape[1] != b.shape[0] or 0 in sizes or math.prod(sizes) > MOST_TERMS or min(strides) < 0:
        return None
    lie_well = _suits_blas(sizes[:2], strides[:2], a.itemsize) and _suits_blas(sizes[1:], strides[2:], a.itemsize)
    part = _of_vectors(sizes, strides, result) if lie_well else None
    if part is None:
        more = {"function": KERNELS["product"], "sizes": sizes, "strides": strides, "type": result.dtype.num}
        part = Part("product", result.size, more=more)
    return Kind((part,), may_overwrite=False)


def _suits_blas(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    """Is a matrix multiplied as it lies? Others are copied first, see matmul.c."""

    def is_layout(inner: int, outer: int) -> bool:
        is_dense = strides[inner] == size or shape[inner] == 1
        gap = strides[outer]
        return is_dense and (shape[outer] == 1 or (gap >= shape[inner] * size and gap % size == 0))

    return is_layout(1, 0) or is_layout(0, 1)


def _of_vectors(sizes: tuple[int, ...], strides: tuple[int, ...], result: Array) -> Part | None:
    """A product of a matrix and a vector, or of two vectors, as kernels/products/matmul.c tells them apart.

    The kernels round differently, so this has to choose as that does.
    """
    (m, k, n), size = sizes, result.itemsize
    (a_row, a_column, b_row, b_column) = strides

    def part(kind: str, operands: tuple[int, int], rows: int, columns: int, step: int) -> Part | None:
        if step % size != 0:
            return None
        more = {"function": KERNELS[kind], "sizes": (rows, columns, step // size), "type": result.dtype.num}
        return Part(kind, result.size, more=more, operands=operands)

    if k == 1 and b_column == size:
        return part("outer", (0, 1), m, n, a_row)
    if m == 1 and (a_column == size or k == 1):
        if n == 1 and b_row == size:
            return part("matrix_vector", (1, 0), 1, k, k * size)
        if b_column == size:
            return part("vector_matrix", (0, 1), k, n, b_row)
        if b_row == size:
            return part("matrix_vector", (1, 0), n, k, b_column)
    if n == 1 and (b_row == size or k == 1):
        if a_column == size:
            return part("matrix_vector", (0, 1), m, k, a_row)
        if a_row == size:
            return part("vector_matrix", (1, 0), k, m, a_column)
    return None


def _steps(matrix: Array, is_vector: bool, axis: int) -> tuple[int, ...]:
    """Steps along rows and columns; that of the one row or column that a vector is says nothing."""
    steps = list(matrix.strides)
    if is_vector:
        steps[axis] = steps[1 - axis] * matrix.size
    return tuple(steps)


def _of_sum(step: Step, arrays: list[Array], result: Array) -> Kind | None:
    sizes = sizes_of_sum(step, arrays[0], result)
    if sizes is None:
        return None
    if sizes[1] == 1:  # nothing is added, not even the zero that a sum begins with: -0.0 stays what it is
        return Kind((Part("copy", result.nbytes),))
    function = KERNELS["sum_float32" if result.dtype == FLOATS[0] else "sum_float64"]
    more = {"function": function, "sizes": sizes}
    return Kind((Part("sum", result.size, more=more),), may_overwrite=False)


def sizes_of_sum(step: Step, source: Array, result: Array) -> tuple[int, int, int] | None:
    """Of the three dimensions of a sum over the middle one, of a tensor as it lies in memory.

    The summed dimensions have to be adjacent in memory, since elements are added in the order in which they lie.
    """
    if source.dtype != result.dtype or 0 in source.shape:
        return None
    axes = axes_of_sum(step, source, result)
    order = sorted(range(source.ndim), key=lambda axis: -source.strides[axis])
    shown = source.transpose(order)
    places = [place for place, axis in enumerate(order) if axes is not None and axis in axes]
    if not places or not shown.flags.c_contiguous or places != list(range(places[0], places[-1] + 1)):
        return None
    if not _has_order(result, source, [axis for axis in order if axes is not None and axis not in axes]):
        return None
    outer, inner = math.prod(shown.shape[: places[0]]), math.prod(shown.shape[places[-1] + 1 :])
    middle = math.prod(shown.shape[places[0] : places[-1] + 1])
    return outer, middle, inner


def _has_order(result: Array, source: Array, kept: list[int]) -> bool:
    """Does a sum have the dimensions that are left of its source in the order of `kept`?"""
    left = sorted(kept)
    shown = result.reshape([source.shape[axis] for axis in left])
    return bool(shown.transpose([left.index(axis) for axis in kept]).flags.c_contiguous)


def axes_of_sum(step: Step, source: Array, result: Array) -> tuple[int, ...] | None:
    """The dimensions that are summed."""
    if step.name == "sum":
        if len(step.operands) == 2 and step.operands[1] is None:
            return tuple(range(source.ndim))
        if len(step.operands) != 4 or step.operands[3] is not None or not step.operands[1] or not source.ndim:
            return None
        return tuple(sorted(axis % source.ndim for axis in step.operands[1]))
    extra = source.ndim - result.ndim
    kept = [1] * extra + list(result.shape)
    return tuple(axis for axis in range(source.ndim) if axis < extra or kept[axis] != source.shape[axis])


def _of_outer(step: Step, arrays: list[Array], result: Array) -> Kind | None:
    if len(arrays) != 2 or any(array.ndim != 1 for array in arrays):
        return None
    x, y = arrays
    if y.strides[0] != y.itemsize or x.strides[0] < x.itemsize:
        return _kind_of_ufunc(("binary", MULTIPLY), [x[:, None], y[None, :]], result)
    strides = (x.strides[0], x.itemsize, y.strides[0] * y.size, y.strides[0])
    return _product_of(x[:, None], y[None, :], strides, result)


def _of_clone(step: Step, arrays: list[Array], result: Array) -> Kind | None:
    """Of dense memory that is laid out alike, whatever its order."""
    if len(arrays) != 1 or arrays[0].strides != result.strides or arrays[0].dtype != result.dtype:
        return None
    return Kind((Part("copy", result.nbytes),))


# ---- parts of a result


def _place_of_index(step: Step, result: Array, arrays: list[Array]) -> list[Array] | None:
    index = step.operands[-1]
    index = index if isinstance(index, tuple) else (index,)
    if not all(one is None or one is Ellipsis or isinstance(one, (int, slice)) for one in index):
        return None
    return [result[index if Ellipsis in index else (*index, ...)]]


def _places_of_cat(step: Step, result: Array, arrays: list[Array]) -> list[Array] | None:
    if any(array.ndim != result.ndim for array in arrays):  # of size (0,), which fits everywhere
        return None
    dim, ends = step.operands[1] % result.ndim, np.cumsum([0, *[array.shape[step.operands[1]] for array in arrays]])
    return [result[(slice(None),) * dim + (slice(*ends[i : i + 2]),)] for i in range(len(arrays))]


def _places_of_stack(step: Step, result: Array, arrays: list[Array]) -> list[Array] | None:
    dim = step.operands[1] % result.ndim
    return [result[(slice(None),) * dim + (i, ...)] for i in range(len(arrays))]


def _kind_of_placed(step: Step, views: list[Array], arrays: list[Array], result: Array) -> Kind | None:
    most = MOST_PLACED if step.name in (ADD_AT, "basic_index_backward") else MOST_IN_BLOCK
    if result.dtype not in FLOATS or not is_dense(result) or not 0 < result.size <= most:
        return None
    if any(array.dtype != result.dtype or not array.flags.aligned for array in arrays):
        return None
    if step.name == ADD_AT:
        return _kind_of_addition(views[0], arrays, result)
    parts = [_move(view, array, number) for number, (view, array) in enumerate(zip(views, arrays))]
    if len(views) != len(arrays) or any(part is None for part in parts):
        return None
    zeros = (Part("zero", result.nbytes, operands=()),) if step.name == "basic_index_backward" else ()
    return Kind((*zeros, *[part for part in parts if part is not None]), may_overwrite=False)


def _kind_of_addition(view: Array, arrays: list[Array], result: Array) -> Kind | None:
    """The first operand, to which the second one is added at a place. Other elements would get a zero."""
    if arrays[0].shape != result.shape or arrays[0].strides != result.strides or arrays[1].shape != view.shape:
        return None
    copy = Part("copy", result.nbytes, operands=(0,))
    if view.size == 0:
        return Kind((copy,))
    kind = _kind_of_ufunc(("binary", ADD), [view, arrays[1]], view)
    return None if kind is None else Kind((copy, replace(kind.parts[0], operands=(RESULT, 1))))


def _kind_of_copy(result: Array, arrays: list[Array]) -> Kind | None:
    source = arrays[0]
    if result.dtype not in FLOATS or source.dtype != result.dtype or not 0 < result.size <= MOST_IN_BLOCK:
        return None
    if source.ndim > result.ndim or not (source.flags.aligned and result.flags.aligned):
        return None
    part = _move(result, np.broadcast_to(source, result.shape), 0)
    return None if part is None else Kind((part,), may_overwrite=False)


def _move(view: Array, array: Array, number: int) -> Part | None:
    rows = as_rows(view, [array])
    if view.shape != array.shape or rows is None:
        return None
    count, n, strides, row_strides = rows
    if count == 1 and strides == [view.itemsize, view.itemsize]:
        return Part("copy", n * view.itemsize, operands=(number,))
    more = {"rows": count, "strides": strides, "row_strides": row_strides}
    return Part("move", n, more=more, operands=(number,))


ADD_AT = "add_at_index"  # the sum of a tensor and `basic_index_backward`; see merging
PLACED = {
    "basic_index_backward": _place_of_index,
    ADD_AT: _place_of_index,
    "cat": _places_of_cat,
    "stack": _places_of_stack,
}
_MAKERS: dict[str, Callable[[Step, list[Array], Array], Kind | None] | None] = {
    **dict.fromkeys(PLACED),
    "clone": _of_clone,
    "matmul": _of_product,
    "mm": _of_product,
    "mv": _of_product,
    "dot": _of_product,
    "outer": _of_outer,
    "matmul_of_transpose": _of_transpose,
    "sum": _of_sum,
    "sum_to": _of_sum,
}
