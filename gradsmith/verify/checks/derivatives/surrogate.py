"""The `surrogate` of an entry, of which differences are taken in the place of the value's: it has to look like that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import numeric
from ...proof import difference, largest
from ...samples import at
from .reverse import DIFFERENCES

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof


def check(subject: Subject, proof: Proof) -> None:
    if not subject.row.surrogate:
        return
    for setting in subject.differentiable_settings():
        found, wanted = setting.differentiated(), setting.root_arrays()
        problem = "" if len(found) == len(wanted) else f"gives {len(found)} results, the op {len(wanted)}"
        proof.expect("reverse", "the surrogate", setting.label, problem)
        for one, other in zip(found, wanted):
            problem = "" if one.shape == other.shape else f"has shape {one.shape}, expected {other.shape}"
            proof.expect("reverse", "the surrogate", setting.label, problem)


def is_needed(subject: Subject) -> bool:
    """Has the value other derivatives, in some sample."""
    return any(map(differs, subject.differentiable_settings()))


def differs(setting: Setting) -> bool:
    weights = setting.weights()
    for place in setting.places:
        array = at(setting.values, place)
        of_value = numeric.gradient(lambda x, p=place: numeric.loss(setting.moved_roots(p, x), weights), array)  # type: ignore[misc]
        of_surrogate = numeric.gradient(setting.loss_at(place, weights), array)
        size = numeric.terms_of(of_surrogate, max(largest(np.asarray(w)) for w in weights), DIFFERENCES)
        if difference(of_value, of_surrogate, DIFFERENCES, size):
            return True
    return False
