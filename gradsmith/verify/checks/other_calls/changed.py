"""Calls beside the samples: values by the reference, and derivatives along one direction in both modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd.forward_ad import dual_level
from gradsmith.autograd.gradcheck.differences import STEP, unit

from ... import numeric
from ...case import REAL
from ...changed import changed_settings
from ...proof import largest
from ...references.expected import NotAvailable, expected_results
from ...references.refusals import REFUSALS
from ...samples import at, not_implemented, places_of, replaced
from ..derivatives.forward import duals, tangents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Place, Values
    from ...trees.models import Model

PRECISION = 1e-5
SAME_VALUE, LEAST = 1e-7, 1e-3  # relative to the numbers, or to this much
SMOOTH = 1e-6  # relative: how well two differences agree where there is a derivative
DOT_PRODUCT = 1e-9
FLAT = 1e-6
MOST = 200  # elements that are changed one by one


def check(subject: Subject, model: Model, proof: Proof) -> None:
    if "internal" in subject.row.forms:
        return  # an op that only formulas call trusts its arguments
    for dtype in subject.dtypes:
        for setting in changed_settings(subject, model.op, dtype):
            if is_taken(setting, proof):
                check_setting(setting, proof)


def is_taken(setting: Setting, proof: Proof) -> bool:
    """By the op and by its reference, with one result, and finite numbers: real ones are compared.

    Of complex ones a logarithm may have any of its branches.
    """
    try:
        expected = expected_results(setting.subject.row, setting.values)  # first: an internal op trusts its arguments
    except NotAvailable:
        expected = None
    except REFUSALS:
        return False
    try:
        results = setting.results()
    except REFUSALS:
        return False
    known = results if expected is None else expected
    if len(results) != len(known) or not all(map(is_comparable, results, known)):
        return False
    for result, value in zip(results, known) if setting.dtype == REAL and not leaves_order(setting) else ():
        allowed = PRECISION if result.dtype.itemsize < 8 else SAME_VALUE
        proof.compare("varied", "value", setting.label, result, value, allowed, max(largest(value), LEAST))
    return True


def leaves_order(setting: Setting) -> bool:
    """Has the sample numbers that ascend, and the call others, or another order of them."""
    sample = setting.case.row.samples[setting.case.number]
    if not any(text.startswith("sorted(") for text in sample.values()):
        return False
    before, now = (dict(places_of(values)) for values in (setting.case.values(setting.dtype), setting.values))
    return any(array.shape == now[p].shape and np.any(array != now[p]) for p, array in before.items() if p in now)


def repeats(setting: Setting) -> bool:
    """Does an index name a place twice."""
    found = [np.ravel(array) for array in indices_in(list(setting.values.values()))]
    return any(len(set(array.tolist())) < array.size for array in found)


def indices_in(values: Sequence[Any]) -> Iterator[Array]:
    for value in values:
        if isinstance(value, np.ndarray) and value.dtype.kind == "i":
            yield value
        elif isinstance(value, (list, tuple)) and all(isinstance(part, int) for part in value):
            yield np.asarray(value, np.int64)
        elif isinstance(value, (list, tuple)):
            yield from indices_in(value)


def is_comparable(result: Array, expected: Array) -> bool:
    return result.shape == expected.shape and all(
        array.dtype.kind not in "fc" or bool(np.all(np.isfinite(array))) for array in (result, expected)
    )


def check_setting(setting: Setting, proof: Proof) -> None:
    places = setting.places
    if places:
        direction = direction_of(setting, places)
        is_decided = setting.subject.row.subgradient and repeats(setting)
        check_direction(setting, where_it_counts(setting, direction) if is_decided else direction, proof)
    fixed = [p for p, array in places_of(setting.values) if array.dtype.kind in "fc" and p not in places]
    if fixed and not (setting.subject.row.stops_gradient or setting.is_refused):
        check_constants(setting, direction_of(setting, fixed), proof)


def direction_of(setting: Setting, places: Sequence[Place]) -> dict[Place, Array]:
    random = np.random.default_rng(3)
    return {p: numeric.draw(random, at(setting.values, p)) for p in places}


def where_it_counts(setting: Setting, direction: dict[Place, Array]) -> dict[Place, Array]:
    """Along all elements but those that are overwritten: of several that go to one place one counts.

    What the gradient of the others is the author has decided, in `points`.
    """
    return {place: np.where(is_overwritten(setting, place), 0, v).astype(v.dtype) for place, v in direction.items()}


def is_overwritten(setting: Setting, place: Place) -> Array:
    """Elements that make a difference with the indices of the sample, and none with those that repeat."""
    sample = setting.with_values(setting.case.values(setting.dtype), "")
    counts = makes_difference(setting, place)
    is_alike = np.shape(at(sample.values, place)) == counts.shape and not repeats(sample)
    return np.asarray(~counts & (makes_difference(sample, place) if is_alike else True))


def makes_difference(setting: Setting, place: Place) -> Array:
    array, function = at(setting.values, place), setting.flat_at(place)
    plain, found = function(array), np.zeros(array.shape, bool)
    for index in np.ndindex(array.shape) if array.size <= MOST else ():
        found[index] = np.any(function(np.asarray(array + unit(array, index, 1))) != plain)
    return found


def check_constants(setting: Setting, direction: dict[Place, Array], proof: Proof) -> None:
    """Inputs that the entry declares without gradient must have no slope here either."""
    refused = not_implemented(setting.subject.row)
    direction = {place: v for place, v in direction.items() if place[0] not in refused}
    weights = numeric.weights_like(setting.results(), setting.case.id)
    slope = steady_slope(setting, direction, lambda values: numeric.loss(setting.results(values), weights))
    if slope is not None:
        names = " and ".join(dict.fromkeys(repr(place[0]) for place in direction))
        terms = numeric.magnitude(setting.results(), weights) + 1e-300
        proof.compare("varied", f"slope along {names}, without a gradient", setting.label, slope, 0.0, FLAT, terms)


def check_direction(setting: Setting, direction: dict[Place, Array], proof: Proof) -> None:
    """The slope of the loss along the direction, by differences, by gradients and by tangents."""
    weights = [balanced(w, root) for w, root in zip(setting.weights(), setting.root_arrays())]
    slope = steady_slope(setting, direction, lambda values: numeric.loss(setting.differentiated(values), weights))
    if slope is None:
        return
    try:
        gradients = setting.gradients(weights)
    except REFUSALS as error:
        if all(array.size for _, array in places_of(setting.values)):
            proof.expect("varied", "gradients", setting.label, f"raised {type(error).__name__}: {error}")
        return
    found = sum(numeric.inner(g, direction[p]) for p, g in zip(setting.places, gradients))
    terms = numeric.magnitude(gradients, [direction[p] for p in setting.places])
    terms += numeric.magnitude(setting.root_arrays(), weights) * 1e-3
    proof.compare("varied", "slope by gradients against differences", setting.label, found, slope, PRECISION, terms)
    with dual_level():
        tangents = tangents_of(setting.roots(duals(setting.values, direction)))
    along = sum(numeric.inner(w, t) for w, t in zip(weights, tangents))
    terms += numeric.magnitude(weights, tangents)
    proof.compare("varied", "slope by tangents against gradients", setting.label, along, found, DOT_PRODUCT, terms)


def balanced(weight: Array, result: Array) -> Array:
    """Large and small elements of the results count alike."""
    size = np.abs(result)
    return np.asarray(weight / np.where(size > 0, size, 1), weight.dtype)


def steady_slope(setting: Setting, direction: dict[Place, Array], loss: Callable[[Values], float]) -> float | None:
    """None at a kink, a jump, or the end of the domain, where differences with other steps are others."""

    def moved(step: float) -> float:
        arrays = {p: np.asarray(at(setting.values, p) + step * v) for p, v in direction.items()}
        return loss(replaced(setting.values, arrays))

    try:
        here = moved(0.0)
        (coarse, *sides), (fine, *near) = (slopes_at(moved, here, step) for step in (STEP, STEP / 7))
    except REFUSALS:
        return None
    size = abs(fine) + 1e-3 * abs(here)
    steady = abs(coarse - fine) <= SMOOTH * size
    one = abs(near[0] - near[1]) <= max(1e-6 * size, 0.2 * abs(sides[0] - sides[1]))
    return float(fine) if steady and one else None


def slopes_at(function: Callable[[float], float], here: float, step: float) -> tuple[float, float, float]:
    """By differences around zero, and to its left and right."""
    far_left, left, right, far_right = (function(n * step) for n in (-2, -1, 1, 2))
    both = (far_left - 8 * left + 8 * right - far_right) / (12 * step)
    return both, (3 * here - 4 * left + far_left) / (2 * step), (4 * right - far_right - 3 * here) / (2 * step)
