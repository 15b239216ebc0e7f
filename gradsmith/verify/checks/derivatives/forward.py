"""Forward mode against differences of the value, against reverse mode, and over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual

from ... import numeric
from ...case import COMPLEX
from ...proof import Compared, largest
from ...samples import array_of, as_tensors, at, leaves_among, replaced
from ..forms import fits_in_place, write
from .reverse import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Place, Values

DIFFERENCES = 1e-8
SECOND_DIFFERENCES = 1e-7
DOT_PRODUCT = 1e-11
SAME = 1e-11
MIXED = 1e-9
# The purpose of each declared rule, for messages about wrong tangents.
RULES = {
    "auto_element_wise": " (by `auto_element_wise`, for gradients that are each element of `grad`, by itself, times one"
    " number, also a complex one; `transposed` is for all)",
    "auto_linear": " (by `auto_linear`, for ops that are linear in all inputs together; `transposed` is for all)",
    "auto_linear_in_each": " (by `auto_linear_in_each`, for ops linear in each input; `transposed` is for all)",
}


def check(subject: Subject, proof: Proof) -> None:
    writes = "inplace" in subject.row.forms or subject.row.base.endswith("_")
    for setting in subject.differentiable_settings():
        directions = directions_of(setting)
        for place in setting.places:
            check_tangents(setting, {place: directions[place]}, f"along {name_of(place)[12:]}", proof)
        if len(setting.places) > 1:
            check_tangents(setting, directions, "along all inputs", proof)
        check_dot_product(setting, directions, proof)
        check_over_reverse(setting, directions, proof)
        check_twice(setting, directions, proof)
        check_reverse_over(setting, directions, proof)
        if writes and fits_in_place(setting):
            check_written(setting, directions, proof)


def directions_of(setting: Setting) -> dict[Place, Array]:
    random = np.random.default_rng(2)
    draw = numeric.draw_along if setting.subject.row.surrogate else numeric.draw
    return {place: draw(random, at(setting.values, place)) for place in setting.places}


def duals(values: Values, directions: dict[Place, Array]) -> Values:
    """The call's values as tensors, of which those with a direction carry it."""
    tensors = as_tensors(values)
    return replaced(tensors, {p: make_dual(at(tensors, p), gs.tensor(v)) for p, v in directions.items()})


def tangents_of(results: Iterable[Any]) -> list[Array]:
    """A result without tangent does not depend on the direction."""
    found = []
    for result in results:
        primal, tangent = unpack_dual(result)
        found.append(np.zeros(primal.shape, primal.dtype) if tangent is None else array_of(tangent))
    return found


def moved(setting: Setting, directions: dict[Place, Array], step: float) -> Setting:
    arrays = {p: np.asarray(at(setting.values, p) + step * v) for p, v in directions.items()}
    return setting.with_values(replaced(setting.values, arrays), "moved")


def slopes_of(function: Callable[[float], Sequence[Array]]) -> list[Array]:
    """Derivatives at zero of a function of a step that gives several arrays."""
    return numeric.slopes(lambda step: function(float(step)), np.zeros(()), np.ones(()))


def check_tangents(setting: Setting, directions: dict[Place, Array], how: str, proof: Proof) -> None:
    with dual_level():
        roots = setting.roots(duals(setting.values, directions))
        found, kinds = tangents_of(roots), [root.dtype for root in roots]
    expectations = slopes_of(lambda step: moved(setting, directions, step).differentiated())
    for tangent, expected, kind in zip(found, expectations, kinds):
        terms = numeric.terms_of(expected, setting.root_arrays(), DIFFERENCES)
        name = f"tangent {how} against differences{RULES.get(setting.subject.row.tangent, '')}"
        proof.compare_derivative("forward", name, setting.label, tangent, expected, DIFFERENCES, terms)
        for place in directions:
            compared = Compared(setting.case.number, place[0], "forward", setting.dtype)
            proof.note_compared(compared, expected, max(map(largest, setting.root_arrays()), default=0.0))
        problem = "" if tangent.dtype == kind else f"has dtype {tangent.dtype}, expected {kind}"
        proof.expect("forward", f"dtype of the tangent {how}", setting.label, problem)


def check_dot_product(setting: Setting, directions: dict[Place, Array], proof: Proof) -> None:
    """<w, J v> is <J^T w, v>: the two modes are transposes of each other."""
    weights = setting.weights()
    with dual_level():
        tangents = tangents_of(setting.roots(duals(setting.values, directions)))
    gradients = setting.gradients(weights)
    found = sum(numeric.inner(w, t) for w, t in zip(weights, tangents))
    expected = sum(numeric.inner(g, directions[p]) for p, g in zip(setting.places, gradients))
    terms = numeric.magnitude(weights, tangents)
    name = "tangent against gradient (dot product)"
    known = proof.resolution.get("complex" if setting.dtype == COMPLEX else "reverse", 1.0)
    proof.compare_derivative("forward", name, setting.label, found, expected, DOT_PRODUCT, terms, known)


def check_over_reverse(setting: Setting, directions: dict[Place, Array], proof: Proof) -> None:
    """The tangents of the gradients are their differences along the same directions."""
    weights = setting.weights()
    with dual_level():
        tensors = duals(setting.values, directions)
        leaves = [at(tensors, place).requires_grad_() for place in setting.places]
        given = [gs.tensor(w) for w in weights]
        found = tangents_of(grad(setting.roots(tensors), leaves, given, materialize_grads=True))

    plain = setting.gradients(weights)
    expectations = slopes_of(lambda step: moved(setting, directions, step).gradients(weights))
    for place, tangent, expected in zip(setting.places, found, expectations):
        name = f"tangent of the {name_of(place)} (forward over reverse)"
        terms = numeric.terms_of(expected, plain, SECOND_DIFFERENCES)
        proof.compare_derivative("double", name, setting.label, tangent, expected, SECOND_DIFFERENCES, terms)


def check_twice(setting: Setting, directions: dict[Place, Array], proof: Proof) -> None:
    """The tangent of a tangent, by two levels, is the difference of the tangents."""
    with dual_level() as outer, dual_level():
        tensors = as_tensors(setting.values)
        twice = {}
        for place, direction in directions.items():
            once = make_dual(at(tensors, place), gs.tensor(direction), level=outer)
            twice[place] = make_dual(once, gs.tensor(direction))
        inner = [unpack_dual(root).tangent for root in setting.roots(replaced(tensors, twice))]
        outer_tangents = [None if t is None else unpack_dual(t, level=outer).tangent for t in inner]
        found = [None if t is None else array_of(t) for t in outer_tangents]

    def tangents(step: float) -> list[Array]:
        with dual_level():
            return tangents_of(setting.roots(duals(moved(setting, directions, step).values, directions)))

    plain = tangents(0.0)
    for tangent, expected in zip(found, slopes_of(tangents)):
        result = np.zeros_like(expected) if tangent is None else tangent
        terms = numeric.terms_of(expected, plain, SECOND_DIFFERENCES)
        proof.compare("forward", "tangent of the tangent", setting.label, result, expected, SECOND_DIFFERENCES, terms)


def check_reverse_over(setting: Setting, directions: dict[Place, Array], proof: Proof) -> None:
    """The gradients of the tangents: along the inputs the tangents of the gradients, along the directions gradients.

    Backward carries the tangents of what it computes, which are third derivatives.
    """
    try:
        compare_reverse_over(setting, directions, proof)
    except NotImplementedError as error:
        proof.not_run["reverse over forward"] = str(error).rstrip(".")


def compare_reverse_over(setting: Setting, directions: dict[Place, Array], proof: Proof) -> None:
    weights = setting.weights()
    with dual_level():
        tensors = duals(setting.values, directions)
        leaves = [at(tensors, place).requires_grad_() for place in setting.places]
        mixed = tangents_of(
            grad(setting.roots(tensors), leaves, [gs.tensor(w) for w in weights], materialize_grads=True)
        )
    plain = setting.gradients(weights)
    for number, (found, expected) in enumerate(
        zip(tangents_differentiated(setting, directions, weights), mixed + plain)
    ):
        place = setting.places[number % len(plain)]
        along = "along" if number < len(plain) else "along the direction of"
        name = f"gradient of the tangent {along} {name_of(place)[12:]} (reverse over forward)"
        terms = max(largest(expected), largest(plain[number % len(plain)]))
        proof.compare("double", name, setting.label, found, expected, MIXED, terms)


def tangents_differentiated(setting: Setting, directions: dict[Place, Array], weights: Sequence[Array]) -> list[Array]:
    """Gradients of the tangents with respect to the inputs, then to the directions."""
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    tangents = [gs.tensor(directions[place], requires_grad=True) for place in setting.places]
    with dual_level():
        pairs = {p: make_dual(leaf, tangent) for p, leaf, tangent in zip(setting.places, leaves, tangents)}
        found = [unpack_dual(root).tangent for root in setting.roots(replaced(tensors, pairs))]
        kept = [(t, gs.tensor(w)) for t, w in zip(found, weights) if t is not None and t.requires_grad]
        if not kept:
            return [np.zeros(leaf.shape, leaf.dtype) for leaf in (*leaves, *tangents)]
        every = grad([t for t, _ in kept], [*leaves, *tangents], [w for _, w in kept], materialize_grads=True)
        return [array_of(part) for part in every]


def check_written(setting: Setting, directions: dict[Place, Array], proof: Proof) -> None:
    """In place: the tensor gets the tangent that the plain form gives."""
    with dual_level():
        tensors = duals(setting.values, directions)
        write(setting, tensors)
        (found,) = tangents_of([tensors["self"]])
    with dual_level():
        (expected,) = tangents_of(setting.roots(duals(setting.values, directions)))
    expected = expected.astype(found.dtype)
    proof.compare("in-place", "tangent of what was written in place", setting.label, found, expected, SAME)
