"""A result without a gradient must not depend on its input: a nonzero slope would be dropped silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradsmith.autograd.gradcheck.differences import STEP, slope, slopes, unit

from ... import numeric
from ...samples import at, not_implemented, places_of, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Place

FLAT = 1e-8


def check(subject: Subject, proof: Proof) -> None:
    if subject.row.stops_gradient:
        return
    refused = not_implemented(subject.row)  # these raise, and are not silent
    for setting in subject.settings():
        if setting.is_refused:
            continue
        for place, array in places_of(setting.values):
            if array.dtype.kind in "fc" and place[0] not in refused:
                check_place(setting, place, proof)


def check_place(setting: Setting, place: Place, proof: Proof) -> None:
    """All results along an input without a gradient; the results without a gradient along every input."""
    array = at(setting.values, place)
    function = constant_results(setting, place)
    size = function(array)
    if not size.size:
        return
    for index in np.ndindex(array.shape):
        for value in (1, 1j) if array.dtype.kind == "c" else (1,):
            found = steady_slope(function, array, unit(array, index, value))
            name = f"slope along {place[0]!r}, which has no gradient"
            terms = numeric.terms_of(np.zeros(()), [size], FLAT)
            if not proof.compare("constants", name, setting.label, found, np.zeros_like(found), FLAT, terms):
                return


def steady_slope(function: Callable[[Array], Array], array: Array, direction: Array) -> Array:
    """The slope, zero where it is that of a jump: it grows as the step shrinks, or a smaller step stays this side."""
    found: Array = slope(function, array, direction)
    if not np.any(found):
        return found
    (nearer,) = slopes(lambda moved: [function(moved)], array, direction, step=STEP / 100)
    with np.errstate(all="ignore"):
        return np.where(np.abs(nearer - found) <= np.abs(found) / 2, found, 0)


def constant_results(setting: Setting, place: Place) -> Callable[[Array], Array]:
    subject = setting.subject

    def function(array: Array) -> Array:
        results = setting.results(replaced(setting.values, {place: array}))
        parts = subject.constant(results) if place in setting.places else results
        numbers = [part for part in parts if part.dtype.kind in "fc"]  # others are constant between their steps
        return np.concatenate([part.ravel() for part in numbers]) if numbers else np.empty(0)

    return function
