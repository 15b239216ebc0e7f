"""Dtypes under `vmap`, above all of slices without dimensions, whose dtype counts for less than that of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING

from ...case import REAL, Setting
from ...references.refusals import REFUSALS
from ...samples import places_of, replaced
from .batch import ONCE, batches_of, compare

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof
    from ...samples import Case, Shape, Values

# Dtypes, and shapes, of the tensors of numbers in turn.
ALIKE = (("float32",), ("int64",))
MIXED = (("float32", "float64"), ("float64", "float32"), ("int64", "float32"), ("float32", "int64"), ("bool", "int32"))
SHAPES: tuple[tuple[Shape, ...], ...] = (((),), ((), (3, 4)), ((3, 4), ()), ((4,), (3, 4)))


def check(subject: Subject, proof: Proof) -> None:
    if subject.row.depends_on_layout or "internal" in subject.row.forms:
        return
    for case in subject.cases:
        for setting in settings_of(subject, case):
            for batch in batches_of(setting):
                compare("values of a batch in other dtypes", subject.call, batch, proof, ONCE)


def settings_of(subject: Subject, case: Case) -> Iterator[Setting]:
    names = [place[0] for place, array in places_of(case.values()) if array.dtype.kind == "f"]
    several = len(names) > 1
    for shapes in (None, *(SHAPES if several else SHAPES[:1])):
        given = dict(zip(names, cycle(shapes))) if shapes else {}
        for dtypes in (*ALIKE, *(MIXED if several else ())):
            drawn = drawn_as(case, given)
            if drawn is None:
                continue
            values = cast(drawn, dtypes)
            remark = f"as {' and '.join(dtypes)}" + (f", shaped {shapes}" if shapes else "")
            setting = Setting(subject, case, values, REAL, remark)
            if is_taken(setting):
                yield setting


def drawn_as(case: Case, shapes: dict[str, Shape]) -> Values | None:
    """Values of other shapes; None where a sample says more of them, such as that they are a square matrix."""
    try:
        return case.values(REAL, shapes=shapes)
    except (IndexError, ValueError):
        return None


def cast(values: Values, dtypes: tuple[str, ...]) -> Values:
    kinds = cycle(dtypes)
    return replaced(values, {p: array.astype(next(kinds)) for p, array in places_of(values) if array.dtype.kind == "f"})


def is_taken(setting: Setting) -> bool:
    try:
        setting.results()
    except REFUSALS:
        return False
    return True
