"""Programs to files and back."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

import numpy as np

from gradsmith import collector
from gradsmith.compiler.compiled import Compiled, line_of_user
from gradsmith.compiler.tracing import Caller, Traced
from gradsmith.graph.saved.checking import check
from gradsmith.graph.saved.document import Document
from gradsmith.graph.saved.program import Function, LoadedProgram
from gradsmith.graph.saved.reading import read
from gradsmith.graph.saved.recording import Recording, traced_for
from gradsmith.graph.saved.writing import write
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.serialization.errors import reading
from gradsmith.serialization.files import path_of, replace_file
from gradsmith.utils import pytree


def save_program(function: Callable[..., Any], args: Sequence[Any], file: Any, kwargs: Mapping[str, Any]) -> None:
    """`gradsmith.graph.save`."""
    path = path_of(file)
    data = _bytes_of(function, (tuple(args), dict(kwargs)))
    if path is None:
        file.write(data)
    else:
        replace_file(path, lambda opened: _write_to(opened, data))


def _write_to(file: IO[bytes], data: bytes) -> None:
    file.write(data)


def load_program(file: Any) -> LoadedProgram:
    """`gradsmith.graph.load`."""
    path = path_of(file)
    if path is None:
        return LoadedProgram(_checked(file, getattr(file, "name", "the file")))
    with open(path, "rb") as opened:
        return LoadedProgram(_checked(opened, str(path)))


def _checked(file: IO[bytes], name: str) -> Document:
    with reading(name):
        document = read(file)
        check(document)
    return document


def _bytes_of(function: Callable[..., Any], arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> bytes:
    """The file of a function, which has been read again and has repeated the traced run."""
    name = getattr(function, "__name__", type(function).__name__)
    leaves, spec = pytree.flatten(arguments)
    plain = function.function if isinstance(function, Compiled) else function
    with collector.stopped():  # a trace makes many objects that live until its end
        traced = traced_for(plain, Caller(name, line_of_user), leaves, spec)
        try:
            expected = _outcome_of(traced)
            file = io.BytesIO()
            write(Recording(traced, leaves, spec, name).document(), file)
        finally:
            traced.trace.release()
        data = file.getvalue()
        if not _repeated(_checked(io.BytesIO(data), f"what save({name}) would write"), leaves, spec).is_same(expected):
            raise RuntimeError(
                f"save({name}): the saved program does not repeat the run that it was made from; please report this"
            )
    return data


def _repeated(document: Document, leaves: list[Any], spec: pytree.TreeSpec) -> Outcome:
    """What the program of a document does with arguments, which are as before afterwards."""
    traced = traced_for(Function(document), Caller(document.name, line_of_user), leaves, spec)
    try:
        return _outcome_of(traced)
    finally:
        traced.trace.release()


def _outcome_of(traced: Traced) -> Outcome:
    """What came of a traced run, which is undone."""
    try:
        return Outcome(traced)
    finally:
        traced.trace.restore()


class Outcome:
    """What came of a traced run: results, their gradients, and what was written."""

    def __init__(self, traced: Traced) -> None:
        values = traced.trace.values
        slots = [result.slot for result in traced.results]
        slots += [slot for source, slot in traced.wanted if source.kind == "argument"]
        self.arrays = [None if slot is None else array_behind(values[slot]).copy() for slot in slots]
        self.written = {id(owner): owner.copy() for owner, _ in traced.trace.originals.values()}

    def is_same(self, other: Outcome) -> bool:
        """The same bits? Memory that one of them alone wrote is that of captured tensors."""
        common = self.written.keys() & other.written.keys()
        pairs = [*zip(self.arrays, other.arrays, strict=True), *[(self.written[n], other.written[n]) for n in common]]
        return all(map(_is_same, *zip(*pairs))) if pairs else True


def _is_same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
