"""The gradient against differences of the value, against a complex step, and against itself computed in other ways."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.gradcheck.differences import complex_slope

from ... import numeric
from ...case import some_used
from ...proof import Compared, largest
from ...samples import array_of, as_tensors, at, leaves_among, replaced
from ...seeds import is_generator

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Place

DIFFERENCES = 1e-8
COMPLEX_STEP = 1e-11
SAME_FORMULA = 1e-13
SINGLE = 1e-4
SECOND_SINGLE = 1e-3
LOST = 1e-36  # what is smaller loses digits in float32, or becomes zero
SINGLES = {"float64": "float32", "complex128": "complex64"}


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.differentiable_settings():
        weights = setting.weights()
        gradients = setting.gradients(weights)
        check_differences(setting, weights, gradients, proof)
        if setting.dtype == "float64":
            check_complex_step(setting, weights, gradients, proof)
        check_recorded(setting, weights, gradients, proof)
        check_some_inputs(setting, weights, gradients, proof)
        check_undefined(setting, weights, proof)
    for setting in subject.differentiable_settings([SINGLES[dtype] for dtype in subject.dtypes]):
        check_single_precision(setting, proof)


def name_of(place: Place) -> str:
    return f"gradient of {place[0]!r}" + (f"[{place[1]}]" if len(place) > 1 else "")


def check_differences(setting: Setting, weights: list[Array], gradients: list[Array], proof: Proof) -> None:
    prop = "complex" if setting.dtype == "complex128" else "reverse"
    size = numeric.magnitude(setting.root_arrays(), weights)
    for place, found in zip(setting.places, gradients):
        array = at(setting.values, place)
        expected = numeric.gradient(setting.loss_at(place, weights), array)
        terms = numeric.terms_of(expected, size, DIFFERENCES)
        name = f"{name_of(place)} against differences"
        proof.compare_derivative(prop, name, setting.label, found, expected, DIFFERENCES, terms)
        compared = Compared(setting.case.number, place[0], "reverse", setting.dtype)
        proof.note_compared(compared, expected, size)
        kind = "" if found.dtype == array.dtype else f"has dtype {found.dtype}, expected {array.dtype}"
        proof.expect(prop, f"dtype of the {name_of(place)}", setting.label, kind)


def check_complex_step(setting: Setting, weights: list[Array], gradients: list[Array], proof: Proof) -> None:
    """Along one direction of each input, where the op takes complex numbers and is analytic."""
    arrays = {place: at(setting.values, place) for place in setting.places}
    known = [
        *arrays.values(),
        *setting.root_arrays(),
    ]  # what makes complex numbers of real ones has imaginary parts anyway
    row = setting.subject.row
    if not row.complex or any(array.dtype.kind == "c" for array in known):
        return
    if any(is_generator(argument) for argument in row.arguments):  # what is drawn for complex numbers has both parts
        return
    complexes = {place: array.astype(np.complex128) for place, array in arrays.items()}
    plane = setting.with_values(replaced(setting.values, complexes), "in the complex plane")
    for place, found in zip(setting.places, gradients):
        direction = numeric.draw(np.random.default_rng(1), arrays[place])
        slopes = complex_slope(plane.flat_at(place), arrays[place], direction)
        if slopes is not None:
            expected = numeric.inner(np.concatenate([w.ravel() for w in weights]), slopes)
            along = numeric.inner(found, direction)
            name = f"{name_of(place)} against a complex step"
            terms = numeric.magnitude([found], [direction])
            proof.compare_derivative("reverse", name, setting.label, along, expected, COMPLEX_STEP, terms)


def check_recorded(setting: Setting, weights: list[Array], gradients: list[Array], proof: Proof) -> None:
    """The two readings of a formula, compiled loop and ops that record themselves, give the same numbers."""
    recorded, _, _ = setting.recorded_gradients(weights)
    for place, plain, other in zip(setting.places, gradients, recorded):
        name = f"{name_of(place)} as recorded ops against the compiled one"
        proof.compare("reverse", name, setting.label, array_of(other), plain, SAME_FORMULA)


def check_some_inputs(setting: Setting, weights: list[Array], gradients: list[Array], proof: Proof) -> None:
    """Unwanted gradients are neither saved for nor computed, and do not affect the wanted ones."""
    every = dict(zip(setting.places, gradients))
    for count in range(1, len(setting.places)):
        for places in combinations(setting.places, count):
            for place, found in zip(places, setting.gradients(weights, places)):
                name = f"{name_of(place)} when {len(places)} of {len(setting.places)} inputs require it"
                proof.compare("reverse", name, setting.label, found, every[place], 0)


def check_undefined(setting: Setting, weights: list[Array], proof: Proof) -> None:
    """A result that is not used counts like one whose gradient is zero; first and second derivatives."""
    count = len(weights)
    for used in some_used(count):
        some = derivatives(setting, [n in used for n in range(count)], weights, skip=True)
        zeros = derivatives(setting, [n in used for n in range(count)], weights, skip=False)
        for number, (one, other) in enumerate(zip(some, zeros)):
            name = f"derivative {number} when only the results {sorted(used)} are used"
            proof.compare("undefined", name, setting.label, one, other, SAME_FORMULA)


def derivatives(setting: Setting, used: list[bool], weights: list[Array], *, skip: bool) -> list[Array]:
    """First and second derivatives of the used results, the others left out or given zeros."""
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    roots = setting.roots(tensors)
    chosen = [n for n, wanted in enumerate(used) if wanted or not skip]
    given = [tensor_of(weights[n] * used[n]) for n in chosen]
    firsts = grad([roots[n] for n in chosen], leaves, given, create_graph=True, materialize_grads=True)
    total = sum((first * first.conj()).real.sum() for first in firsts)
    seconds: tuple[Any, ...] = ()
    if total.requires_grad:
        seconds = grad(total, leaves, materialize_grads=True)
    return [array_of(g) for g in (*firsts, *(seconds or zeros_of(leaves)))]


def tensor_of(array: Array) -> Any:
    return as_tensors({"array": np.asarray(array)})["array"]


def zeros_of(leaves: list[Any]) -> list[Any]:
    return [tensor_of(np.zeros(leaf.shape, leaf.dtype)) for leaf in leaves]


def widened(array: Array) -> Array:
    return array.astype(np.result_type(array, np.float64))


def check_single_precision(setting: Setting, proof: Proof) -> None:
    """float32 against float64 at the same numbers."""
    wide = {place: widened(at(setting.values, place)) for place in setting.places}
    double = setting.with_values(replaced(setting.values, wide), f"{setting.dtype} values")
    weights = double.weights()
    narrow = [w.astype(r.dtype) for w, r in zip(weights, setting.root_arrays())]
    for place, found, expected in zip(setting.places, setting.gradients(narrow), double.gradients(weights)):
        terms = max(largest(expected), LOST / SINGLE)
        proof.compare("float32", f"{name_of(place)} in {setting.dtype}", setting.label, found, expected, SINGLE, terms)
    check_second_in_single_precision(setting, double, proof)


def check_second_in_single_precision(setting: Setting, double: Setting, proof: Proof) -> None:
    """A formula that asks for the dtype may be wrong at the second order alone."""
    every = [True] * len(double.weights())
    found, expected = (
        derivatives(each, every, [w.astype(r.dtype) for w, r in zip(double.weights(), each.root_arrays())], skip=False)
        for each in (setting, double)
    )
    for number, (one, other) in enumerate(zip(found, expected)):
        size = max([LOST / SECOND_SINGLE, *map(largest, expected)])
        name = f"derivative {number} in {setting.dtype}, first and second"
        proof.compare("float32", name, setting.label, one, other, SECOND_SINGLE, size)
