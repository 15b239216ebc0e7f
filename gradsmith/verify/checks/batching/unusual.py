"""Slices with NaN, equal elements and zeros: each may take another way through the rule of a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...case import REAL
from ...samples import places_of, replaced
from .batch import ONCE, Batch, compare, is_accepted

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof
    from ...samples import Array, Values

# What every third element of a slice becomes, and the one behind it.
UNUSUAL = ((np.nan, 1.0), (0.0, -1.0), (2.0, 2.0))


def check(subject: Subject, proof: Proof) -> None:
    """Of infinities nothing is said: where they meet, the order of a sum decides what comes out."""
    if "internal" in subject.row.forms:
        return  # an op that only formulas call trusts its arguments
    for setting in subject.settings([REAL]):
        places = tuple(place for place, array in places_of(setting.values) if array.dtype.kind == "f")
        slices = tuple(with_numbers(setting.values, *pair, number) for number, pair in enumerate(UNUSUAL))
        batch = Batch(replace(setting, remark="unusual numbers"), places, slices)
        if places and batch.is_written and is_accepted(batch):
            compare("values of a batch", subject.call, batch, proof, ONCE)


def with_numbers(values: Values, one: float, other: float, number: int) -> Values:
    """A call in which every third element is `one`, the next `other`, and the others stay as they are."""

    def changed(array: Array) -> Array:
        turn = (np.arange(array.size).reshape(array.shape) + number) % 3
        return np.where(turn == 0, one, np.where(turn == 1, other, array))

    return replaced(values, {p: changed(array) for p, array in places_of(values) if array.dtype.kind == "f"})
