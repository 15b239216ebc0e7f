"""Calls beside the samples: with arguments of several samples together, other numbers, other indices, other sizes.

A formula may be right for all samples and wrong for what no sample shows. Coverage asks authors for
the obvious samples; unusual calls are tried here without asking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from . import numeric
from .case import Setting
from .checks.other_calls.resized import resized_settings
from .samples import places_of, replaced, seed_of
from .variations import setting_of, variations_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradsmith.codegen.model import Op
    from gradsmith.codegen.spec.schema import Argument
    from gradsmith.generated.op_table import OpRow

    from .case import Subject
    from .samples import Array, Place
    from .variations import Sample

LARGER, SMALLER = 30, 1e-2
FLOATS = ("-1.5", "7.", "40.")


def changed_settings(subject: Subject, op: Op, dtype: str) -> Iterator[Setting]:
    """All calls, not yet tried; each sample's text once."""
    for sample, remark in samples_beside(subject, op):
        try:
            yield Setting(subject, (found := setting_of(subject, sample, dtype)).case, found.values, dtype, remark)
        except (ValueError, TypeError, IndexError):  # a generator that makes no array of these sizes
            continue
    for case in subject.cases:
        yield subject.setting(case, dtype)
        yield from with_other_contents(subject.setting(case, dtype))
    yield from resized_settings(subject, dtype)


def samples_beside(subject: Subject, op: Op) -> Iterator[tuple[Sample, str]]:
    known = [sorted(sample.items()) for sample in subject.row.samples]
    for sample, remark in (*mixed_samples(subject, op), *varied_samples(subject, op)):
        if sorted(sample.items()) not in known:
            known.append(sorted(sample.items()))
            yield sample, remark


def mixed_samples(subject: Subject, op: Op) -> Iterator[tuple[Sample, str]]:
    """Each sample with one or all of the plain arguments of another one: only together may two of them be wrong."""
    plain = [a.name for a in op.signature.arguments if is_plain(a) or a.type.optional]
    for sample in subject.row.samples:
        for other in subject.row.samples:
            for name in plain:
                yield exchanged(op, sample, {name: other.get(name, "")}), f"{name!r} as in another sample"
            yield exchanged(op, sample, {n: other.get(n, "") for n in plain}), "all numbers as in another sample"


def varied_samples(subject: Subject, op: Op) -> Iterator[tuple[Sample, str]]:
    """One thing is changed; where tensors get other dimensions, that may be a second one."""
    row = subject.row
    for variation in variations_of(op, row):
        if variation.kind != "ties":
            yield variation.sample, f"{variation.argument or 'all tensors'}: {variation.kind}"
    for argument in op.signature.arguments:
        for sample in row.samples if argument.type.name in ("float", "Scalar") and is_plain(argument) else ():
            yield from ((exchanged(op, sample, {argument.name: text}), f"another {argument.name!r}") for text in FLOATS)
    for argument in op.signature.arguments:
        for sample in row.samples:
            for text in other_texts(argument, row):
                yield exchanged(op, sample, {argument.name: text}), f"another {argument.name!r}"
    deeper = row._replace(samples=tuple(v.sample for v in variations_of(op, row) if v.kind == "more dimensions"))
    for variation in variations_of(op, deeper):
        if variation.kind == "more dimensions":
            yield variation.sample, "two more dimensions"


def other_texts(argument: Argument, row: OpRow) -> Iterator[str]:
    """All pairs of truth values; the words that the entry's texts compare with or look up."""
    if argument.type.name == "bool" and argument.type.is_list:
        yield from map(repr, product((False, True), repeat=2))
    if argument.type.name == "str":
        texts = " ".join((row.forward, row.reference, *(formula for _, formula in row.gradients)))
        yield from map(repr, dict.fromkeys(word for _, word in re.findall(r"""(['"])(\w+)\1""", texts)))


def is_plain(argument: Argument) -> bool:
    return not (argument.type.is_tensor or argument.type.is_tensor_list)


def exchanged(op: Op, sample: Sample, texts: Sample) -> Sample:
    """The sample with other texts; an empty one leaves an argument out, where it may be."""
    given = {**sample, **texts}
    required = {a.name for a in op.signature.arguments if a.default is None}
    return {
        a.name: given[a.name] or sample[a.name]
        for a in op.signature.arguments
        if given.get(a.name) or (a.name in sample and a.name in required)
    }


# ---- contents of tensors


def with_other_contents(setting: Setting) -> Iterator[Setting]:
    """One array, or all of numbers, changed."""
    arrays = dict(places_of(setting.values))
    for place, array in arrays.items():
        for remark, change in CHANGES.get(array.dtype.kind, {}).items():
            yield setting.with_values(replaced(setting.values, {place: change(array)}), f"{place[0]!r} {remark}")
    yield from with_other_numbers(setting, {p: array for p, array in arrays.items() if array.dtype.kind in "fc"})


def with_other_numbers(setting: Setting, arrays: dict[Place, Array]) -> Iterator[Setting]:
    """Of each array, then of all."""
    free = [place for place in arrays if place[0] not in setting.subject.row.domain]
    for remark, others in (
        ("of the normal distribution", {place: other_numbers(setting, place, arrays[place]) for place in free}),
        (f"times {LARGER}", {p: np.asarray(array * LARGER, array.dtype) for p, array in arrays.items()}),
        (f"times {SMALLER}", {p: np.asarray(array * SMALLER, array.dtype) for p, array in arrays.items()}),
    ):
        for some in [*({place: other} for place, other in others.items() if len(others) > 1), others]:
            names = " and ".join(dict.fromkeys(repr(place[0]) for place in some))
            yield setting.with_values(replaced(setting.values, some), f"{names} {remark}")


def other_numbers(setting: Setting, place: Place, array: Array) -> Array:
    drawn = normal(place, array)
    return numeric.shaped_like(drawn, array) if setting.subject.row.surrogate else drawn


def normal(place: Place, array: Array) -> Array:
    random = np.random.default_rng(seed_of(f"normal {place}"))
    values: Any = random.normal(size=array.shape)
    return np.asarray(
        values + 0.3j * random.normal(size=array.shape) if array.dtype.kind == "c" else values, array.dtype
    )


CHANGES: dict[str, dict[str, Callable[[Array], Array]]] = {
    "i": {
        "all zero": np.zeros_like,
        "all minus one": lambda array: np.full_like(array, -1),
        "backwards": lambda array: np.flip(array).copy(),
        "one less": lambda array: np.asarray(array - 1),
    },
    "b": {
        "all true": np.ones_like,
        "all false": np.zeros_like,
        "negated": lambda array: np.asarray(~array),
    },
}  # fmt: skip
