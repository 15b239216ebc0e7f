"""Variations of the samples: what holds for a sample has to hold for its neighbours, and both sides refuse the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradsmith.autograd.gradcheck.differences import STEP, slopes, unit

from ... import numeric
from ...coverage.gap import Gap
from ...references.refusals import REFUSALS, is_deliberate
from ...references.settled import as_far_as_settled
from ...samples import at, places_of
from ...variations import Neighbour, neighbours_of, written_sample
from ..derivatives import reverse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Place
    from ...trees.models import Model

PRECISION = 1e-9
SLOPES = 1e-6
BEND = 1e-2  # between the slopes to both sides
MOST = 200  # elements of a gradient that are compared


def check(subject: Subject, model: Model, proof: Proof) -> None:
    for neighbour in neighbours_of(subject, model.op):
        setting = neighbour.setting
        is_run = neighbour.expected is not None and neighbour.found is not None
        if setting is None or not is_run or neighbour.variation.has_new_zeros or not is_telling(setting):
            continue
        check_values(neighbour, setting, proof)
        if neighbour.variation.kind != "ties" and not has_index(setting):
            check_slopes(setting, proof)


def is_telling(setting: Setting) -> bool:
    """Numbers alone are computed in the default dtype; what an opaque argument fits is known to the author alone."""
    types = [argument.type for argument in setting.subject.row.arguments]
    kinds = {array.dtype.kind for _, array in places_of(setting.values)}
    takes_numbers = any("|Scalar" in text for text in types)
    return bool(kinds & set("fc") if takes_numbers else kinds) and "object" not in types


def has_index(setting: Setting) -> bool:
    """An index that may name one place twice, of which the last one written counts."""
    return any(array.dtype.kind in "iu" for _, array in places_of(setting.values))


def check_values(neighbour: Neighbour, setting: Setting, proof: Proof) -> None:
    found, expected = neighbour.found or [], neighbour.expected or []
    problem = "" if len(found) == len(expected) else f"{len(found)} results, the reference gives {len(expected)}"
    if proof.expect("varied", "number of results", setting.label, problem):
        known = as_far_as_settled(setting, found, expected)
        for number, (result, reference) in enumerate(zip(found, known)):
            name = f"result {number}" if len(found) > 1 else "value"
            proof.compare("varied", name, setting.label, result, reference, PRECISION)


def check_slopes(setting: Setting, proof: Proof) -> None:
    """Where the differences with two steps agree, and so there is a derivative."""
    if not has_slopes(setting):
        return
    weights = setting.weights()
    try:
        gradients = setting.gradients(weights)
    except REFUSALS as error:
        if is_deliberate(error, setting.subject.row) or any(array.size == 0 for _, array in places_of(setting.values)):
            return
        proof.expect("varied", "the gradient", setting.label, f"raised {type(error).__name__}: {error}")
        return
    size = numeric.magnitude(setting.root_arrays(), weights)
    for place, found in zip(setting.places, gradients):
        expected, is_steady = steady_gradient(setting, place, weights)
        terms = numeric.terms_of(np.where(is_steady, expected, 0), size, SLOPES)
        expected = np.where(is_steady, expected, found)
        name = f"{reverse.name_of(place)} against differences"
        proof.compare("varied", name, setting.label, found, expected, SLOPES, terms)


def has_slopes(setting: Setting) -> bool:
    places = setting.places
    size = sum(at(setting.values, place).size for place in places)
    return 0 < size <= MOST and all(np.all(np.isfinite(root)) for root in setting.root_arrays())


def steady_gradient(setting: Setting, place: Place, weights: list[Array]) -> tuple[Array, Array]:
    """By differences; and where there is a derivative."""
    array = at(setting.values, place)
    found = np.zeros(array.shape, array.dtype)
    steady = np.ones(array.shape, bool)
    for index in np.ndindex(array.shape):
        for value in (1, 1j) if array.dtype.kind == "c" else (1,):
            along, is_steady = steady_slope(setting.loss_at(place, weights), array, unit(array, index, value))
            found[index] += value * along
            steady[index] &= is_steady
    return found, steady


def steady_slope(function: Callable[[Array], float], array: Array, direction: Array) -> tuple[float, bool]:
    """The slope, and whether those to both sides and with a smaller step are the same."""
    before, at_it, after = (function(np.asarray(array + n * STEP / 8 * direction)) for n in (-1, 0, 1))
    wide, narrow = (
        float(slopes(lambda moved: [np.asarray(function(moved))], array, direction, step)[0])
        for step in (STEP, STEP / 8)
    )
    bend = abs(after - 2 * at_it + before) / (STEP / 8)
    return wide, abs(wide - narrow) <= SLOPES * (1 + abs(wide)) and bend <= BEND * (1 + abs(wide))


# ---- what only one of the two refuses


def gaps_of(subject: Subject, model: Model) -> Iterator[Gap]:
    """Of each kind the first. An internal op trusts its arguments."""
    if "internal" in subject.row.forms or subject.row.is_composite:
        return
    for neighbour in neighbours_of(subject, model.op):
        text = written_sample(neighbour.variation.sample)
        refused, other = neighbour.refused, neighbour.reference_refused
        if refused is not None and other is None and not is_deliberate(refused, subject.row):
            yield Gap(
                f"the reference takes `{text}`, the op raises {type(refused).__name__}: {first_line(refused)}",
                "a `require` with a message, or let the op take it",
            )
            return
        if other is not None and refused is None and neighbour.found is not None:
            yield Gap(
                f"the op takes `{text}`, the reference raises {type(other).__name__}: {first_line(other)}",
                "a `reference` that takes it, or a `require` by which the op refuses it",
            )
            return


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
