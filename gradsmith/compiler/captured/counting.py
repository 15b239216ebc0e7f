"""Counts that a function keeps outside of it, which make no difference to its program.

A program is for the values that the function read, and a count is another one at each call. Where two runs that found
different counts did the same, and no code asks for the count but to add to it, the program is for any count, and each
run adds to it. Lists that grow by the same items are counts too.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradsmith.compiler.captured.changes import Added, Change, Counted
from gradsmith.compiler.captured.spaces import ALL
from gradsmith.compiler.guards import PLAIN
from gradsmith.compiler.tracing import Source, Traced
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.program import Slot
from gradsmith.runtime.programs.python_calls import Undo
from gradsmith.runtime.programs.reads import LENGTH, Read


def signature_of(traced: Traced) -> str | None:
    """What a run did, as a digest that is equal for two that did the same; None of one that counts nothing."""
    if all(change.step is None and change.added is None for change in traced.changes):
        return None
    trace = traced.trace
    steps = [
        (step.name, _plain(step.operands), step.results, step.writes, _plain(step.loop), _made_of(step.function))
        for step in (*traced.steps, *traced.backward)
    ]
    sources = [(source.slot, source.kind, source.number, id(source.tensor)) for source in traced.sources]
    sources = [(*one[:3], 0) if one[1] == "constant" else one for one in sources]
    constants = [_plain(array_behind(trace.constant_before(slot))) for slot in trace.constants]
    results = [
        (
            one.slot,
            one.argument,
            one.requires_grad,
            _plain(one.value),
            _plain_leaf(one.gradient),
            _plain_leaf(one.had_gradient),
        )
        for one in traced.results
    ]
    return hashlib.sha256(repr((steps, sources, constants, results, traced.cotangents)).encode()).hexdigest()


def _plain_leaf(source: Source | None) -> Any:
    return None if source is None else (source.kind, source.number, id(source.tensor))


def _plain(value: Any) -> Any:
    """What can be compared, by value where that is safe."""
    if isinstance(value, Slot):
        return Slot, value.number
    if type(value) in (tuple, list):
        return type(value), [_plain(one) for one in value]
    if type(value) in PLAIN:
        return type(value), repr(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype, value.shape, value.tobytes()
    return _plain(value.owners) if isinstance(value, Undo) else id(value)


def _made_of(function: Any) -> Any:
    """The same for functions that each run makes anew, of the same code and for the same objects."""
    if isinstance(function, functools.partial):
        return _made_of(function.func), _plain(function.args), _plain(list(function.keywords.items()))
    if isinstance(function, types.FunctionType):
        return id(function.__code__), [_plain(cell.cell_contents) for cell in function.__closure__ or ()]
    return _plain(function)


def without_counts(
    old: Sequence[Change], new: Sequence[Change], codes: Iterable[types.CodeType]
) -> list[Change] | None:
    """The changes of two runs that did the same, with counts as such; None if they differ otherwise.

    Parameters
    ----------
    old, new : sequence of Change
        Of two runs.
    codes : iterable of code
        What may ask for a count.
    """
    if len(old) != len(new):
        return None
    found = [_common(one, other, codes) for one, other in zip(old, new)]
    return None if any(change is None for change in found) else found  # type: ignore[return-value]


def _common(old: Change, new: Change, codes: Iterable[types.CodeType]) -> Change | None:
    if old.space.holder is not new.space.holder or old.name != new.name:
        return None
    if new.added is not None and old.added is not None and _plain(new.added) == _plain(old.added):
        return Added(new)
    if new.step is not None and new.step == old.step and _only_counts(new.space.word_of(new.name), codes):
        return Counted(new)
    return new if old.spec == new.spec and _plain(old.leaves) == _plain(new.leaves) else None


def _only_counts(name: str | None, codes: Iterable[types.CodeType]) -> bool:
    """Is a variable or attribute loaded only where something is stored in it again, as ``x.name += 1`` does?"""
    if name is None:
        return False
    loads = stores = 0
    for code in codes:
        for instruction in dis.get_instructions(code):
            if instruction.argval == name:
                loads += instruction.opname.startswith("LOAD_")
                stores += instruction.opname.startswith("STORE_")
    return loads <= stores


def depends_on(read: Any, changes: Sequence[Change]) -> bool:
    """Is it a read of a count?"""
    if not isinstance(read, Read):
        return False
    counts = [one for one in changes if isinstance(one, (Counted, Added))]
    return any(
        read.holder is one.space.holder and (read.name == one.name or (one.name is ALL and _is_length(read)))
        for one in counts
    )


def _is_length(read: Read) -> bool:
    return read.name is LENGTH or isinstance(read.name, int)
