"""Gradients of complex inputs against values on a circle (Cauchy's integral): exact where the op is analytic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import numeric
from ...case import COMPLEX
from ...samples import at
from .reverse import name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array

POINTS = 8  # the error is that power of the radius
RADIUS = 0.01
PRECISION = 1e-11
ROUNDED = 5e-3  # what rounding the values leaves in the slope, in units of the precision
ANALYTIC = 1e-10  # how small the part has to be that belongs to the conjugate


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.differentiable_settings([COMPLEX] if subject.row.complex else []):
        check_setting(setting, proof)


def check_setting(setting: Setting, proof: Proof) -> None:
    """Along one direction of each input."""
    weights = setting.weights()
    flat = np.concatenate([w.ravel() for w in weights])
    size = numeric.magnitude(weights, setting.root_arrays())
    for place, gradient in zip(setting.places, setting.gradients(weights)):
        array = at(setting.values, place)
        direction = numeric.draw(np.random.default_rng(3), array)
        slope = slope_on_circle(setting.flat_at(place), array, direction) if array.dtype.kind == "c" else None
        if slope is not None:
            found, expected = np.sum(np.conj(gradient) * direction), np.sum(np.conj(flat) * slope)
            terms = numeric.magnitude([gradient], [direction]) + ROUNDED * size
            name = f"{name_of(place)} against values on a circle"
            proof.compare_derivative("complex", name, setting.label, found, expected, PRECISION, terms, PRECISION)


def slope_on_circle(function: Callable[[Array], Array], array: Array, direction: Array) -> Array | None:
    """None where the op is not analytic: then the conjugate of a step shows as well."""
    turns = np.exp(2j * np.pi * np.arange(POINTS) / POINTS)
    values = [function(np.asarray(array + RADIUS * turn * direction)) for turn in turns]
    if not np.all(np.isfinite(values)):
        return None
    slope, conjugate = (
        np.asarray(sum(value * turn for value, turn in zip(values, others))) / (POINTS * RADIUS)
        for others in (np.conj(turns), turns)
    )
    size = np.abs(slope) + np.abs(values[0])
    return slope if np.all(np.abs(conjugate) <= ANALYTIC * size) else None
