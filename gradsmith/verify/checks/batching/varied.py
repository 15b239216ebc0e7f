"""Variations of the samples under `vmap`: other arguments and ranks, and what the op refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...references.refusals import is_deliberate
from ...samples import places_of
from ...variations import Neighbour, neighbours_of
from .batch import ONCE, SLICES, Batch, batches_of, compare
from .drawn import draws

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof
    from ...trees.models import Model


def check(subject: Subject, model: Model, proof: Proof) -> None:
    row = subject.row
    if row.batching in ("", "values") or draws(row) or row.depends_on_layout or "internal" in row.forms:
        return
    for neighbour in neighbours_of(subject, model.op):
        if neighbour.setting is None:
            continue
        if neighbour.found is not None:
            for batch in batches_of(neighbour.setting):
                compare("values of a batch", subject.call, batch, proof, ONCE)
        elif neighbour.refused is not None and is_deliberate(neighbour.refused, subject.row):
            check_refused(neighbour, neighbour.refused, proof)


def check_refused(neighbour: Neighbour, refused: Exception, proof: Proof) -> None:
    """A batch is refused by the words by which one slice is."""
    setting = neighbour.setting
    assert setting is not None
    places = tuple(place for place, _ in places_of(setting.values))
    if not places:
        return
    batch = Batch(setting, places, (setting.values,) * SLICES)
    name, label = "the error for a batch", batch.label(SLICES, 0)
    try:
        batch.mapped(setting.subject.call, SLICES, 0)
    except Exception as error:
        same = type(error) is type(refused) and str(error) == str(refused)
        problem = (
            "" if same else f"is {type(error).__name__}: {error}; for one slice {type(refused).__name__}: {refused}"
        )
    else:
        problem = f"does not come; for one slice {type(refused).__name__}: {refused}"
    proof.expect("batching", name, label, problem)
