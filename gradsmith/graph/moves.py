"""Ops that put elements elsewhere: copies, joins, slices written back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.graph.layout import Array, NotExportable, Operand, indices_of, nest
from gradsmith.graph.literals import literal
from gradsmith.graph.step_view import StepView, converted
from gradsmith.runtime.programs.program import Slot

COPIES = {
    "clone",
    "contiguous",
    "to",
    "to_copy",
    "copy",
    "clone_by_rows",
    "detach",
    "reshape",
    "view",
    "flatten",
    "conj",
}


def copy(view: StepView) -> list[str]:
    """Elements in the order of rows, which is the order of both shapes; copy_ broadcasts."""
    source = view.source(1 if view.step.writes else 0)
    result = view.result
    if view.step.writes or source.shape == result.shape:
        return _copied(view, source, result)
    if math.prod(source.shape) != math.prod(result.shape):
        raise NotExportable("it changes the number of elements")
    if not view.array(view.slot).flags.c_contiguous:
        raise NotExportable("its result is not contiguous")
    return _flattened(view, source)


def _copied(view: StepView, source: Operand, target: Operand) -> list[str]:
    indices = indices_of(len(target.shape))
    text = converted(source.at(view.pointer(source), indices), source.dtype, target.dtype)
    return nest(target.shape, [f"{target.at('r0', indices)} = {text};"])


def _flattened(view: StepView, source: Operand) -> list[str]:
    """Walk through the source, and write one element after the other."""
    indices = indices_of(len(source.shape))
    text = converted(source.at(view.pointer(source), indices), source.dtype, view.result.dtype)
    return [f"ptrdiff_t k = {view.result.offset};", *nest(source.shape, [f"r0[k++] = {text};"])]


def flip(view: StepView) -> list[str]:
    """The same elements, seen from the other end."""
    slot, dims = view.slots[0], view.operands[1]
    array = view.array(slot)
    axes = [dim % max(array.ndim, 1) for dim in dims]
    key: list[Any] = [slice(None, None, -1 if axis in axes else 1) for axis in range(array.ndim)]
    key.append(...)
    return _copied(view, view.place(slot, array[tuple(key)]), view.result)


def fill(view: StepView) -> list[str]:
    number = view.operands[1] if len(view.operands) > 1 else 0
    return nest(view.result.shape, [f"{view.target()} = {view.element(number, view.result.dtype)};"])


def join(view: StepView) -> list[str]:
    """cat and stack: each tensor into its part of the result."""
    tensors, dim = view.operands[0], view.operands[1] if len(view.operands) > 1 else 0
    array = view.array(view.slot)
    axis, first, lines = dim % max(array.ndim, 1), 0, []
    for tensor in tensors:
        if view.array(tensor.number).shape == (0,):  # which fits beside any shape
            continue
        size = 1 if view.name == "stack" else view.array(tensor.number).shape[axis]
        key: list[Any] = [slice(None)] * array.ndim + [...]
        key[axis] = first if view.name == "stack" else slice(first, first + size)
        lines += _copied(view, view.place(tensor.number), view.place(view.slot, array[tuple(key)]))
        first += size
    return lines


def triangle(view: StepView) -> list[str]:
    """tril and triu: zeros above or below a diagonal."""
    source, diagonal = view.source(0), view.operands[1] if len(view.operands) > 1 else 0
    *_, row, column = indices_of(len(source.shape))
    sign = "<=" if view.name == "tril" else ">="
    text = f"{column} - {row} {sign} {diagonal} ? {view.element(view.operands[0], view.result.dtype)} : 0"
    return nest(view.result.shape, [f"{view.target()} = {text};"])


def slice_backward(view: StepView) -> list[str]:
    """Zeros, and the gradient where the slice was."""
    key = view.operands[2]
    if _has_tensor(key):
        raise NotExportable("it is indexed with tensors")
    parts = key if isinstance(key, tuple) else (key,)
    return _scattered(view, view.array(view.slot)[parts if ... in parts else (*parts, ...)])


def geometry_scatter(view: StepView) -> list[str]:
    part, array = view.operands[1], view.array(view.slot)
    is_other = part.dtype != array.dtype or part.joins_parts
    if part.base_strides != array.strides or is_other or 0 in part.strides:
        raise NotExportable("its view shows elements more than once, or of another dtype")
    shown = np.ndarray(part.shape, array.dtype, array, part.offset, part.strides)
    return _scattered(view, shown)


def _scattered(view: StepView, shown: Array) -> list[str]:
    zeros = nest(view.result.shape, [f"{view.target()} = {literal(0, view.result.dtype)};"])
    source = view.source(0)
    return [*zeros, *_copied(view, source, view.place(view.slot, shown))]


def _has_tensor(key: Any) -> bool:
    if isinstance(key, (tuple, list)):
        return any(map(_has_tensor, key))
    return isinstance(key, (Slot, np.ndarray))
