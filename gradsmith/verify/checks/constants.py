"""A result without a gradient must not depend on its input: a nonzero slope would be dropped silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradsmith.autograd.gradcheck.differences import slope, unit

from ..samples import at, not_implemented, places_of, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..case import Setting, Subject
    from ..proof import Proof
    from ..samples import Array, Place

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
    if not function(array).size:
        return
    for index in np.ndindex(array.shape):
        for value in (1, 1j) if array.dtype.kind == "c" else (1,):
            found = slope(function, array, unit(array, index, value))
            name = f"slope along {place[0]!r}, which has no gradient"
            if not proof.compare("constants", name, setting.label, found, np.zeros_like(found), FLAT):
                return


def constant_results(setting: Setting, place: Place) -> Callable[[Array], Array]:
    subject = setting.subject

    def function(array: Array) -> Array:
        results = setting.results(replaced(setting.values, {place: array}))
        parts = subject.constant(results) if place in setting.places else results
        numbers = [part.astype(np.float64) if part.dtype.kind not in "fc" else part for part in parts]
        return np.concatenate([part.ravel() for part in numbers]) if numbers else np.empty(0)

    return function
