"""Ops of which the shape of the result depends on values: these say so under `vmap`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .batch import SLICES, Batch, batches_of

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.settings():
        for batch in batches_of(setting):
            expect_error("depends on values", batch, proof)


def expect_error(words: str, batch: Batch, proof: Proof) -> None:
    """Count whether the error comes that says this."""
    try:
        batch.mapped(batch.setting.subject.call, SLICES, 0)
    except RuntimeError as error:
        problem = "" if words in str(error) else f"is {error}; expected one that says {words!r}"
    else:
        problem = f"does not come, expected one that says {words!r}"
    proof.expect("batching", "the error for a batch", batch.label(SLICES, 0), problem)
