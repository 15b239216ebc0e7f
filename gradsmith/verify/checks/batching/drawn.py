"""Ops that draw random numbers: `vmap` has to be told how those of different slices are related."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...seeds import is_generator
from .batch import ONCE, batches_of, compare
from .refused import expect_error

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

    from ...case import Subject
    from ...proof import Proof


def draws(row: OpRow) -> bool:
    return any(map(is_generator, row.arguments))


def check(subject: Subject, proof: Proof) -> None:
    """A sample draws the same for each slice, from one seed."""
    for setting in subject.settings():
        for batch in batches_of(setting):
            expect_error("randomness", batch, proof)
            compare("values of a batch that draws the same", subject.call, batch, proof, ONCE, randomness="same")
