"""All conditions of coverage for one entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..checks.elementwise import is_elementwise
from ..checks.layouts import LAYOUTS, relaid
from ..checks.points import point_settings
from ..checks.resized import resized_settings
from . import arguments, branches, gradients
from .gap import Gap

if TYPE_CHECKING:
    from ..case import Subject
    from ..proof import Proof
    from ..trees.models import Model


def gaps_of(subject: Subject, model: Model, proof: Proof) -> list[Gap]:
    """What is missing, each thing once."""
    if not subject.cases:
        return [Gap("nothing was run", "samples")]
    elementwise = all(is_elementwise(subject, case) for case in subject.cases)
    found = [
        *gradients.gaps_of(subject, model, frozenset(proof.compared)),
        *arguments.gaps_of(subject, model, is_elementwise=elementwise),
        *branches.gaps_of(subject, model, looked_at(subject)),
    ]
    return list({gap.subject: gap for gap in reversed(found)}.values())[::-1]


def looked_at(subject: Subject) -> Iterator[branches.Looked]:
    """The calls that the checks make: samples in all dtypes, layouts and sizes, and points."""
    for setting in (*subject.settings(), *subject.settings(["float32"])):
        yield setting, None
    for setting in () if subject.row.depends_on_layout else subject.settings():
        yield from ((setting, relaid(setting.values, layout)) for layout in LAYOUTS)
    for setting in (*resized_settings(subject), *point_settings(subject)):
        yield setting, None
