"""What `vmap` gives is what a loop over the slices gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import derivatives, drawn, dtypes, refused, unusual, values, written

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof


def check(subject: Subject, proof: Proof) -> None:
    if not subject.row.batching:
        return
    if subject.row.batching == "values":
        refused.check(subject, proof)
    elif drawn.draws(subject.row):
        drawn.check(subject, proof)
    else:
        for part in (values, derivatives, written, dtypes, unusual):
            part.check(subject, proof)
