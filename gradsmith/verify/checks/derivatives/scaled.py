"""Both modes are linear: twice the gradient of the result gives twice the gradient, of any size and layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level
from gradsmith.runtime.tensors.factories.creation import over_array

from ...samples import array_of, as_tensors, leaves_among
from ..other_calls.layouts import LAYOUTS
from .forward import directions_of, duals, tangents_of
from .reverse import name_of

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array

FACTORS = (2.0**20, 2.0**-20)  # powers of two: not even rounding differs
SAME = 1e-12


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.differentiable_settings():
        weights = setting.weights()
        gradients = setting.gradients(weights)
        for factor in FACTORS:
            check_gradients(setting, weights, gradients, factor, proof)
            check_tangents(setting, factor, proof)
        check_layouts(setting, weights, gradients, proof)


def check_gradients(
    setting: Setting, weights: list[Array], gradients: list[Array], factor: float, proof: Proof
) -> None:
    for place, plain, found in zip(setting.places, gradients, setting.gradients([w * factor for w in weights])):
        name = f"{name_of(place)} for a gradient of the result times {factor:g}"
        proof.compare("reverse", name, setting.label, found, plain * factor, SAME)


def check_tangents(setting: Setting, factor: float, proof: Proof) -> None:
    directions = directions_of(setting)
    with dual_level():
        plain = tangents_of(setting.roots(duals(setting.values, directions)))
        found = tangents_of(setting.roots(duals(setting.values, {p: v * factor for p, v in directions.items()})))
    for one, other in zip(found, plain):
        name = f"tangent for tangents of the inputs times {factor:g}"
        proof.compare("forward", name, setting.label, one, other * factor, SAME)


def check_layouts(setting: Setting, weights: list[Array], gradients: list[Array], proof: Proof) -> None:
    """Gradients of results arrive in any layout, expanded ones from every sum."""
    for layout, change in LAYOUTS.items():
        found = gradients_for(setting, [over_array(np.asarray(change(w))) for w in weights])
        compare_layout(setting, layout, gradients, found, proof)
    ones = [np.ones_like(w) for w in weights]
    expanded = [over_array(np.broadcast_to(np.ones((), w.dtype), w.shape)) for w in weights]
    compare_layout(setting, "expanded", setting.gradients(ones), gradients_for(setting, expanded), proof)


def compare_layout(setting: Setting, layout: str, expected: list[Array], found: list[Array], proof: Proof) -> None:
    for place, one, other in zip(setting.places, found, expected):
        name = f"{name_of(place)} for a gradient of the result that is {layout}"
        proof.compare("layouts", name, setting.label, one, other, SAME)


def gradients_for(setting: Setting, given: list[Any]) -> list[Array]:
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    return [array_of(found) for found in grad(setting.roots(tensors), leaves, given, materialize_grads=True)]
