"""Special functions at the numbers that are hard for them, outside of their domains too: poles, halves, tiny and huge.

The op must agree with SciPy there. Infinities and NaN are covered by the special values of `elementwise`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ...case import REAL, Setting
from ...references.expected import expected_results
from ...references.refusals import REFUSALS
from ...samples import places_of, replaced

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof
    from ...samples import Case

MODERATE = (0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.75, 9.5, -0.5, -1.0, -1.5, -2.0, -3.25, -12.0)
POSITIVE = (1e-300, 1e-17, 1e-8, 1e-4, 2.5, 6.0, 12.25, 25.0, 40.5, 171.5, 700.0, 800.0, 1e4, 1e7, 1e17)
NUMBERS = (*MODERATE, *POSITIVE, *(-x for x in POSITIVE))
ORDERS = (-3, -2, -1, 0, 1, 2, 3, 7, 12)
FEW = 2  # tensors, of which all numbers are combined
PRECISION, LEAST = 1e-7, 1e-8


def check(subject: Subject, proof: Proof) -> None:
    if "scipy.special" in subject.row.reference and "internal" not in subject.row.forms:
        for case in subject.cases:
            check_values(hard_setting(subject, case), proof)


def hard_setting(subject: Subject, case: Case) -> Setting:
    """All combinations of hard numbers, one after the other in each tensor."""
    places = list(places_of(case.values()))
    # At huge numbers a hypergeometric series does not end.
    numbers = MODERATE if len(places) > FEW or "hyp" in subject.row.base else NUMBERS
    chosen = [ORDERS if place == ("n",) or array.dtype.kind != "f" else numbers for place, array in places]
    columns = zip(*product(*chosen)) if places else ()
    arrays = {place: np.asarray(column, array.dtype) for (place, array), column in zip(places, columns)}
    return Setting(subject, case, replaced(case.values(), arrays), REAL, "hard numbers")


def check_values(setting: Setting, proof: Proof) -> None:
    """Those that the op takes; what both have to refuse is looked at elsewhere."""
    try:
        found, expected = setting.results(), expected_results(setting.subject.row, setting.values)
    except REFUSALS:
        return
    for result, reference in zip(found, expected):
        proof.compare("special", "value at hard numbers", setting.label, result, reference, PRECISION, LEAST)
