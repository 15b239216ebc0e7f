"""The model of an exported function: memory, places in it, and statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class NotExportable(Exception):
    """A step has no form in C; the message says why, where it is not the op itself."""


@dataclass(frozen=True)
class Buffer:
    """A piece of memory.

    kind "input" or "constant": memory of the caller or of the file, with a name; "work": at `start` bytes of the memory
    that the caller lends.
    """

    kind: str
    name: str
    start: int = 0


@dataclass(frozen=True)
class Operand:
    """A value: where it lies in a buffer, in elements."""

    buffer: Buffer
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, pointer: str, indices: tuple[str, ...]) -> str:
        """An element; the operand is broadcast to as many dimensions as there are indices."""
        own = indices[len(indices) - len(self.shape) :]
        terms = [
            index if stride == 1 else f"{stride} * {index}"
            for index, stride, size in zip(own, self.strides, self.shape)
            if size != 1 and stride != 0
        ]
        if self.offset or not terms:
            terms.insert(0, str(self.offset))
        return f"{pointer}[{' + '.join(terms)}]"


@dataclass(frozen=True)
class Statement:
    """One step: its lines, which read `reads` by the pointers a0, a1, ... and write `writes` by r0."""

    title: str
    reads: tuple[Operand, ...]
    writes: Operand
    lines: tuple[str, ...]


def place_in(buffer: Buffer, owner: Array, view: Array) -> Operand:
    """The operand for a view of the memory of `owner`, which is what the buffer holds."""
    size = view.itemsize
    shift = view.ctypes.data - owner.ctypes.data
    if shift % size or any(stride % size for stride in view.strides):
        raise NotExportable("elements do not lie at multiples of their size")
    return Operand(buffer, view.dtype, shift // size, view.shape, tuple(stride // size for stride in view.strides))


def nest(shape: tuple[int, ...], lines: list[str], first: int = 0) -> list[str]:
    """Loops over all indices i0, i1, ... of a shape; `first` is the number of the outermost one."""
    for axis in range(len(shape) - 1, -1, -1):
        i = f"i{first + axis}"
        lines = [f"for (ptrdiff_t {i} = 0; {i} < {shape[axis]}; {i}++) {{", *indented(lines), "}"]
    return lines


def indices_of(n: int, first: int = 0) -> tuple[str, ...]:
    return tuple(f"i{first + axis}" for axis in range(n))


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
