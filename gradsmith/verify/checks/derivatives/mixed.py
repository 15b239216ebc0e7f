"""Real inputs beside complex ones, and float32 beside float64: gradients have the dtype of what they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsmith.autograd.forward_ad import dual_level

from ...case import COMPLEX, REAL
from ...references.refusals import REFUSALS
from ...samples import at, replaced
from . import forward, reverse

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof

SINGLE = {REAL: "float32", COMPLEX: "complex64"}


def check(subject: Subject, proof: Proof) -> None:
    for setting in mixed_settings(subject):
        weights = setting.weights()
        reverse.check_differences(setting, weights, setting.gradients(weights), proof)
    for setting in subject.differentiable_settings([SINGLE[dtype] for dtype in subject.dtypes]):
        check_dtypes(setting, proof)


def mixed_settings(subject: Subject) -> Iterator[Setting]:
    """Each input in turn is real while the others are complex, where the op takes that."""
    for setting in subject.differentiable_settings([COMPLEX] if subject.row.complex else []):
        reals = setting.case.values(REAL)  # the real part of a well-conditioned matrix need not be one
        for place in setting.places if len(setting.places) > 1 else ():
            values = replaced(setting.values, {place: at(reals, place).real})
            mixed = setting.with_values(values, f"{place[0]!r} real")
            if is_taken(mixed):
                yield mixed


def is_taken(setting: Setting) -> bool:
    try:
        setting.results()
    except REFUSALS:
        return False
    return True


def check_dtypes(setting: Setting, proof: Proof) -> None:
    """Of gradients that of the input, of tangents that of the result."""
    for place, gradient in zip(setting.places, setting.gradients(setting.weights())):
        wanted = at(setting.values, place).dtype
        problem = "" if gradient.dtype == wanted else f"has dtype {gradient.dtype}, expected {wanted}"
        proof.expect("float32", f"dtype of the {reverse.name_of(place)}", setting.label, problem)
    with dual_level():
        roots = setting.roots(forward.duals(setting.values, forward.directions_of(setting)))
        found, kinds = forward.tangents_of(roots), [root.dtype for root in roots]
    for tangent, kind in zip(found, kinds):
        problem = "" if tangent.dtype == kind else f"has dtype {tangent.dtype}, expected {kind}"
        proof.expect("float32", "dtype of the tangent", setting.label, problem)
