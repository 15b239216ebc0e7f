"""All conditions of coverage for one entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..checks.numbers.points import point_settings
from ..checks.other_calls.elementwise import is_elementwise
from ..checks.other_calls.layouts import LAYOUTS, relaid
from ..checks.other_calls.resized import resized_settings
from ..checks.other_calls.varied import gaps_of as refusal_gaps
from ..references.expected import NO_REFERENCE
from . import arguments, branches, claims, gradients
from .gap import Gap

if TYPE_CHECKING:
    from ..case import Subject
    from ..proof import Proof
    from ..trees.models import Model

NEEDED = {"reverse": 1e-7, "complex": 1e-7, "forward": 1e-7, "double": 1e-5}  # relative errors to be found


def gaps_of(subject: Subject, model: Model, proof: Proof) -> list[Gap]:
    """The missing coverage, without repetition."""
    if not subject.cases:
        return [Gap("nothing was run", "samples")]
    elementwise = all(is_elementwise(subject, case) for case in subject.cases)
    found = [
        *gradients.gaps_of(subject, model, frozenset(proof.compared)),
        *arguments.gaps_of(subject, model, is_elementwise=elementwise),
        *branches.gaps_of(subject, model, looked_at(subject)),
    ]
    if proof.not_run.get("value") == NO_REFERENCE:
        found.append(Gap("the value is compared with nothing", "a `reference`"))
    found += [*precision_gaps(proof), *refusal_gaps(subject, model)]
    found += claims.gaps_of(subject, model)
    if subject.row.subgradient and not subject.row.points and not subject.row.is_composite:
        found.append(Gap("`subgradient` is a text that nothing checks", "`points` with the gradients that it promises"))
    return list({gap.subject: gap for gap in reversed(found)}.values())[::-1]


def precision_gaps(proof: Proof) -> Iterator[Gap]:
    """Gradients that are small beside the values they belong to are hidden by rounding."""
    for mode, wanted in NEEDED.items():
        reached = proof.resolution.get(mode, 0.0)
        if reached > wanted:
            words = f"no relative error below {reached:.0e} would be found in {mode} derivatives"
            yield Gap(words, "a sample with gradients that are not small beside the values")


def looked_at(subject: Subject) -> Iterator[branches.Looked]:
    """The calls that the checks make: samples in all dtypes, layouts and sizes, and points."""
    for setting in (*subject.settings(), *subject.settings(["float32"])):
        yield setting, None
    for setting in () if subject.row.depends_on_layout else subject.settings():
        yield from ((setting, relaid(setting.values, layout)) for layout in LAYOUTS.values())
    for setting in (*resized_settings(subject), *point_settings(subject)):
        yield setting, None
