"""Zeros, equal numbers, infinities and NaN among the elements of ops that combine them: sums, products, norms, orders.

Where the differences to both sides agree there is a derivative, and so a gradient that is NaN, or another number, is
wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradsmith.autograd.gradcheck.differences import unit

from ...case import REAL
from ...domains import is_inside
from ...references.expected import NotAvailable, expected_results
from ...references.refusals import REFUSALS
from ...references.settled import as_far_as_settled
from ...samples import at, replaced
from ..derivatives.reverse import name_of
from ..other_calls.elementwise import is_elementwise
from .points import where_undefined
from .rounding import KINDS
from .special import ONE_SIDED, STEP

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Place

DENORMAL = "a denormal number"
# Special values to write into an array: numbers for its first elements, or one for all.
CONTENTS: dict[str, tuple[float, ...] | float] = {
    "a zero": (0.0,),
    "a negative zero": (-0.0,),
    "two zeros": (0.0, 0.0),
    "zeros": 0.0,
    "ones": 1.0,
    "minus ones": -1.0,
    "an infinity": (np.inf,),
    "a negative infinity": (-np.inf,),
    "NaN": (np.nan,),
    "a very large number": (1e200,),
    "a very small number": (1e-307,),
    DENORMAL: (1e-310,),
}
PRECISION = 1e-4
VALUES = 1e-9
AGREES = 1e-5
JUMP = 1e3  # what looks steeper is a jump
LARGE = 1e4
MOST = 30  # elements


def check(subject: Subject, proof: Proof) -> None:
    for plain in subject.differentiable_settings([REAL]):
        if not KINDS.search(" ".join(plain.case.row.samples[plain.case.number].values())):
            combines = not is_elementwise(subject, plain.case)
            for place in plain.places if combines else ():
                for setting in special_settings(plain, place):
                    check_setting(setting, place, proof)


def special_settings(plain: Setting, place: Place) -> Iterator[Setting]:
    """Those in the domain."""
    array = at(plain.values, place)
    domain = plain.subject.row.domain.get(place[0])
    for words, numbers in CONTENTS.items():
        changed = written(array, numbers)
        if domain is None or all(is_inside(x, domain) for x in changed.ravel().tolist()):
            yield plain.with_values(replaced(plain.values, {place: changed}), f"with {words} in {place[0]!r}")


def written(array: Array, numbers: tuple[float, ...] | float) -> Array:
    changed: Array = array.copy()
    if isinstance(numbers, float):
        changed[...] = numbers
    else:
        changed.reshape(-1)[: len(numbers)] = numbers[: array.size]
    return changed


def check_setting(setting: Setting, place: Place, proof: Proof) -> None:
    try:
        found, expected = setting.results(), expected_results(setting.subject.row, setting.values)
    except (*REFUSALS, NotAvailable):
        return
    for result, reference in zip(found, as_far_as_settled(setting, found, expected)):
        known = reference if "NaN" in setting.remark else as_far_as_known(reference, result)
        proof.compare("special", "value", setting.label, result, known, VALUES)
    array, roots = at(setting.values, place), setting.root_arrays()
    is_divided = DENORMAL in setting.remark and any(root.dtype.kind == "c" for root in roots)  # by NumPy, to NaN
    if array.dtype.kind == "f" and array.size <= MOST and all(map(is_moderate, roots)) and not is_divided:
        check_slopes(setting, place, proof)


def as_far_as_known(reference: Array, result: Array) -> Array:
    """A reference that overflows, or takes infinities from each other, says nothing of a number.

    Nor does one that is infinite say more than NaN: that depends on the order in which terms are added.
    """
    if reference.dtype.kind not in "fc" or reference.shape != result.shape:
        return reference
    says_nothing = ~np.isfinite(reference)
    known: Array = np.where(says_nothing, result, reference)
    return known


def is_moderate(array: Array) -> bool:
    """Whether a step makes a difference that is not lost to rounding."""
    return bool(np.all(np.abs(array) < LARGE))


def check_slopes(setting: Setting, place: Place, proof: Proof) -> None:
    weights = setting.weights()
    array = at(setting.values, place)
    (found,) = setting.gradients(weights, [place])
    function = setting.loss_at(place, weights)
    expected, finite = found.copy(), found.copy()
    declared = {point.number for point in where_undefined(setting.subject) if point.input == place[0]}
    for index in np.ndindex(array.shape):
        if not np.isfinite(found[index]) and array[index] in declared:
            continue
        left, right = (one_sided(function, array, index, step) for step in (-STEP, STEP))
        if abs(left - right) <= AGREES * (1 + abs(right)) ** 2 and abs(right) < JUMP:
            if not is_choice_among_equals(setting, function, array, index):
                expected[index] = right
        elif max(abs(left), abs(right)) < JUMP and not np.isfinite(found[index]):
            finite[index] = left
    name = f"{name_of(place)} where the differences from both sides agree"
    proof.compare("special", name, setting.label, found, expected, PRECISION, 1.0)
    if not setting.subject.row.subgradient:
        name = f"{name_of(place)} at a kink, where it is one of the slopes beside it or between them"
        proof.compare("special", name, setting.label, found, finite, PRECISION, 1.0)


def is_choice_among_equals(
    setting: Setting, function: Callable[[Array], float], array: Array, index: tuple[int, ...]
) -> bool:
    """Of several equal elements each may have the slope zero where all together have another one.

    A median stays what it is when one of three equal elements moves. There is no derivative then, and the entry says
    with `subgradient` what is given.
    """
    equals = np.argwhere(array == array[index])
    if len(equals) < 2 or not setting.subject.row.subgradient:
        return False
    alone = sum(one_sided(function, array, tuple(place), STEP) for place in equals)
    together = (function(np.where(array == array[index], array + STEP, array)) - function(array)) / STEP
    return bool(abs(alone - together) > AGREES * (1 + abs(together)) ** 2)


def one_sided(function: Callable[[Array], float], array: Array, index: tuple[int, ...], step: float) -> float:
    """NaN where the op refuses the numbers that are a step away."""
    direction = unit(array, index, 1)
    try:
        values = [weight * function(np.asarray(array + n * step * direction)) for n, weight in enumerate(ONE_SIDED)]
    except REFUSALS:
        return np.nan
    return float(sum(values)) / step
