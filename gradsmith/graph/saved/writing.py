"""Documents to files."""

from __future__ import annotations

import json
import zipfile
from typing import IO, Any

import numpy as np

from gradsmith.graph.saved import trees
from gradsmith.graph.saved.document import Argument, Array, Backward, Call, Document, Kind, Result, Stored
from gradsmith.graph.saved.literals import encode
from gradsmith.graph.saved.ops import op_named
from gradsmith.serialization.archive import write_member
from gradsmith.serialization.arrays import write_array
from gradsmith.version import OWN_VERSION

FORMAT, VERSION = "gradsmith program", 1
PROGRAM, SUFFIX = "program.json", ".npy"


def write(document: Document, file: IO[bytes]) -> None:
    """Write a document: an archive of the stored tensors, as `numpy.load` reads it, and of the program as JSON."""
    writer = _Writer()
    text = json.dumps(writer.json(document), allow_nan=False, separators=(",", ":"))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in writer.arrays.items():
            write_member(archive, name + SUFFIX, lambda member, array=array: write_array(member, array))
        write_member(archive, PROGRAM, lambda member: member.write(text.encode("utf-8", "surrogatepass")))


class _Writer:
    """Names of ops and kinds of values are written once, and meant by their numbers from then on."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.ops: dict[str, int] = {}
        self.kinds: dict[Kind, int] = {}

    def json(self, document: Document) -> dict[str, Any]:
        found = {
            "format": FORMAT,
            "version": VERSION,
            "gradsmith": OWN_VERSION,
            "name": document.name,
            "dtype": document.dtype,
            "tree": trees.encode(document.tree),
            "arguments": [self._argument(argument) for argument in document.arguments],
            "stored": [self._stored(stored) for stored in document.stored],
            "forward": [self._call(call) for call in document.forward],
            "result_tree": trees.encode(document.result_tree),
            "results": [_result(result) for result in document.results],
            "recorded": list(document.recorded),
            "backward": None if document.backward is None else self._backward(document.backward),
        }
        meanings = [op.meaning for name in self.ops if (op := op_named(name)) is not None]
        found["ops"] = [list(pair) for pair in zip(self.ops, meanings, strict=True)]
        found["kinds"] = [[kind.dtype, list(kind.shape)] for kind in self.kinds]
        return found

    def _argument(self, argument: Argument) -> dict[str, Any]:
        if argument.kind is None:
            return {"plain": encode(argument.plain)}
        kind = self._kind(argument.kind)
        return {"tensor": argument.value, "kind": kind, "requires_grad": argument.requires_grad}

    def _stored(self, stored: Stored) -> dict[str, Any]:
        name = str(len(self.arrays))
        self.arrays[name], layout = _without_layout(stored.array)
        return {"array": name, "layout": layout, "is_fresh": stored.is_fresh}

    def _call(self, call: Call) -> list[Any]:
        op = self.ops.setdefault(call.op, len(self.ops))
        kinds = [None if kind is None else self._kind(kind) for kind in call.results]
        return [op, [encode(operand) for operand in call.operands], kinds]

    def _kind(self, kind: Kind) -> int:
        return self.kinds.setdefault(kind, len(self.kinds))

    def _backward(self, backward: Backward) -> dict[str, Any]:
        return {
            "calls": [self._call(call) for call in backward.calls],
            "gradients": [list(pair) for pair in backward.gradients],
        }


def _result(result: Result) -> dict[str, Any]:
    if result.value is not None:
        return {"value": result.value}
    return {"plain": encode(result.plain)} if result.argument is None else {"argument": result.argument}


def _without_layout(array: Array) -> tuple[Array, Any]:
    """An array, and how it lies in that: None for itself, or offset, shape and strides in elements.

    Results can depend on the layout of what they are computed from, by the order in which elements are added up.
    """
    if array.flags.c_contiguous:
        return array, None
    steps = [step // array.itemsize for step in array.strides]
    ends = [(size - 1) * step for size, step in zip(array.shape, steps)]
    first = -sum(end for end in ends if end < 0)
    memory = np.zeros(first + sum(end for end in ends if end > 0) + 1, array.dtype)
    layout = [first, list(array.shape), steps]
    np.copyto(array_in(memory, *layout), array)
    return memory, layout


def array_in(memory: Array, offset: int, shape: list[int], steps: list[int]) -> Array:
    """The array that lies so in memory; the caller has made sure that it does not reach beyond."""
    size = memory.itemsize
    strides = tuple([step * size for step in steps])
    found: Array = np.ndarray(tuple(shape), memory.dtype, memory.data, offset * size, strides)
    return found
