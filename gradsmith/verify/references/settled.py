"""Which numbers of a reference are settled: a matrix of ones has many QR decompositions, and rounding picks one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..proof import largest
from ..samples import places_of, replaced
from . import factored
from .expected import expected_results, reference_of
from .refusals import REFUSALS
from .usual import called_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradsmith.generated.op_table import OpRow

    from ..case import Setting
    from ..samples import Array, Place

FACTORED = frozenset(function.__name__ for function in factored.DEFINITIONS)
ROUNDING = 2.0**-50  # relative
DRAWS = 4
SAME = 1e-4


def as_far_as_settled(setting: Setting, results: Sequence[Array], references: Sequence[Array]) -> list[Array]:
    """The references, with the result itself in place of one that is another for inputs changed in their last places.

    That is asked of decompositions alone: what an order or a threshold decides is to be as it is in the reference.
    """
    if not is_of_matrices(setting.subject.row):
        return list(references)
    known = list(references)
    for draw in range(DRAWS):
        try:
            others = expected_results(setting.subject.row, replaced(setting.values, nudged(setting, draw)))
        except REFUSALS:
            continue
        for number, (result, other) in enumerate(zip(results, others)):
            if result.shape == known[number].shape and not is_settled(references[number], other):
                known[number] = result
    return known


def is_of_matrices(row: OpRow) -> bool:
    """Does the reference decompose matrices, or solve systems of equations?"""
    reference = reference_of(row)
    return bool(re.search(r"\blinalg\.(?!norm)", reference)) or bool(called_names(reference) & FACTORED)


def nudged(setting: Setting, draw: int) -> dict[Place, Array]:
    random = np.random.default_rng(draw)
    return {
        place: np.asarray(array + ROUNDING * largest(array) * random.normal(size=array.shape), array.dtype)
        for place, array in places_of(setting.values)
        if array.dtype.kind in "fc"
    }


def is_settled(reference: Array, other: Array) -> bool:
    """Whole numbers, such as ranks and pivots, are compared as they are."""
    if reference.dtype.kind not in "fc" or reference.shape != other.shape:
        return True
    return np.allclose(reference, other, SAME, SAME, equal_nan=True)
