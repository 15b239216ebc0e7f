"""The gradient of the gradient against differences of the gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ... import numeric
from ...samples import array_of, at, replaced
from .reverse import name_of

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array

DIFFERENCES = 1e-7


def check(subject: Subject, proof: Proof) -> None:
    """A function of the table without a gradient of its own makes the second order an error, which says so."""
    for setting in subject.differentiable_settings():
        try:
            check_setting(setting, proof)
        except NotImplementedError as error:
            proof.not_run["double"] = str(error).rstrip(".")
            return


def check_setting(setting: Setting, proof: Proof) -> None:
    """Along random directions, one for each input and each gradient of a result."""
    weights = setting.weights()
    firsts, leaves, given = setting.recorded_gradients(weights)
    outer = numeric.weights_like([array_of(first) for first in firsts], setting.case.id + " outer")
    seconds = second_derivatives(firsts, [*leaves, *given], outer)
    size = numeric.magnitude([array_of(first) for first in firsts], outer)
    for number, second in enumerate(seconds):
        expected, direction = differences(setting, weights, outer, number)
        found = 0.0 if second is None else numeric.inner(array_of(second), direction)
        name = f"gradient of the gradients, along {name_of_argument(setting, number)}"
        along = 0.0 if second is None else numeric.magnitude([array_of(second)], [direction])
        terms = numeric.terms_of(np.asarray(along), size, DIFFERENCES)
        proof.compare_derivative("double", name, setting.label, found, expected, DIFFERENCES, terms)


def second_derivatives(firsts: tuple[Any, ...], inputs: list[Any], outer: list[Array]) -> list[Any]:
    """None for all when the gradient depends on nothing."""
    recorded = [(first, gs.tensor(w)) for first, w in zip(firsts, outer) if first.requires_grad]
    if not recorded:
        return [None] * len(inputs)
    return list(grad([first for first, _ in recorded], inputs, [w for _, w in recorded], materialize_grads=True))


def name_of_argument(setting: Setting, number: int) -> str:
    places = setting.places
    return name_of(places[number])[12:] if number < len(places) else f"grad of result {number - len(places)}"


def differences(setting: Setting, weights: list[Array], outer: list[Array], number: int) -> tuple[float, Array]:
    """Slope of the gradients' loss along a direction of one input or weight; and the direction."""
    places = setting.places

    def function(array: Array) -> float:
        if number < len(places):
            moved = setting.with_values(replaced(setting.values, {places[number]: array}), "moved")
            return numeric.loss(moved.gradients(weights), outer)
        changed = [array if n == number - len(places) else w for n, w in enumerate(weights)]
        return numeric.loss(setting.gradients(changed), outer)

    array = at(setting.values, places[number]) if number < len(places) else weights[number - len(places)]
    draw = numeric.draw_along if setting.subject.row.surrogate else numeric.draw
    direction = draw(np.random.default_rng(number), array)
    return numeric.slope(function, array, direction), direction
