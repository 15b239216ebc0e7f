"""float32 against float64, at numbers of several sizes: no more may be lost than rounding the inputs would change.

An op is as exact as can be asked for when its result is that of inputs within a few units in the last place of the
given ones. So the float64 result is computed again for inputs that are rounded at random, and that of a formula for
rounded arguments, results and gradients. That tells an ill-conditioned function from one that is computed badly. A
result that is small beside the inputs keeps three digits at least, as of a sum with the largest input in it. Where an
entry says that its formulas lose digits to `cancellation`, each of their steps may be rounded too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.codegen.formula.formula import Call, Conditional, Operator

from ...case import REAL, Setting
from ...domains import is_inside
from ...proof import difference, largest
from ...references.refusals import REFUSALS
from ...samples import array_of, places_of, replaced
from ...trees.evaluator import Evaluator, Surroundings
from ...trees.functions import NotEvaluable
from ...trees.situation import Situation, situation_of
from ..derivatives.reverse import name_of

if TYPE_CHECKING:
    from gradsmith.codegen.formula.formula import Expr

    from ...case import Subject
    from ...proof import Proof
    from ...samples import Array, Values
    from ...trees.models import Model

SIZES: dict[str, Callable[[Array], Array]] = {
    "as they are": lambda x: x,
    "times 1e-4": lambda x: x * 1e-4,
    "plus 1000": lambda x: x + 1000,
    "times 50": lambda x: x * 50,
    "minus 20": lambda x: x - 20,
}
EXTREMES = (1e-12, 1e12)  # whose squares float32 holds, but not whose exponentials
UNIT = 2.0**-24  # by which rounding to float32 changes a number of the order of one
SMALLEST = 2.0**-149  # number of float32
UNITS = 32
DIGITS = 1e-3  # relative: what sums of large inputs may lose of a small result
ROUNDINGS = 4
RANGE = 1e38, 1e-36  # of magnitudes that float32 holds in full
KINDS = re.compile(r"\b(orthogonal|nonsingular|positive_definite|symmetric|lower|upper|sorted)\(")


def check(subject: Subject, model: Model, proof: Proof) -> None:
    for plain in subject.settings([REAL]):
        for setting in (*resized_settings(plain), *extreme_settings(plain)):
            check_setting(setting, model, proof)


def resized_settings(plain: Setting) -> Iterator[Setting]:
    names = {p[0] for p, array in places_of(plain.values) if is_real(array)}
    for remark, change in SIZES.items() if names else ():
        setting = resized(plain, names, change, f"inputs {remark}")
        if setting is not None:
            yield setting


def extreme_settings(plain: Setting) -> Iterator[Setting]:
    """One input many times as large, of which the result is a multiple: then it can be told without overflow."""
    for name in dict.fromkeys(p[0] for p, array in places_of(plain.values) if is_real(array)):
        for factor in EXTREMES:
            setting = resized(plain, {name}, partial(np.multiply, factor), f"{name!r} times {factor:g}")
            if setting is not None and is_multiple(setting, plain, factor):
                yield setting


def is_multiple(setting: Setting, plain: Setting, factor: float) -> bool:
    try:
        pairs = list(zip(setting.results(), plain.results()))
    except REFUSALS:
        return False
    return any(all(np.allclose(a, b * factor**n, rtol=1e-5, atol=0) for a, b in pairs) for n in (-1, 0, 1))


def resized(plain: Setting, names: set[str], change: Callable[[Array], Array], remark: str) -> Setting | None:
    """With numbers that float32 has; None where they leave the domain, or matrices would not be of their kind."""
    texts = " ".join(plain.case.row.samples[plain.case.number].values())
    if KINDS.search(texts) and change is not SIZES["as they are"]:
        return None
    every = {place: array for place, array in places_of(plain.values) if is_real(array)}
    arrays = {p: np.asarray(change(a) if p[0] in names else a, np.float32) for p, a in every.items()}
    domains = plain.subject.row.domain
    limited = [(domains[place[0]], array) for place, array in arrays.items() if place[0] in domains]
    if not all(is_inside(x, domain) for domain, array in limited for x in array.ravel().tolist()):
        return None
    return plain.with_values(replaced(plain.values, {p: a.astype(np.float64) for p, a in arrays.items()}), remark)


def is_real(array: Any) -> bool:
    return bool(array.dtype == np.float64)


def check_setting(setting: Setting, model: Model, proof: Proof) -> None:
    single = setting.with_values(narrowed(setting), f"float32, {setting.remark}")
    try:
        found, expected = single.results(), setting.results()
    except REFUSALS:
        return
    spreads = Spreads(lambda: rounded_results(setting))
    for number, (result, exact) in enumerate(zip(found, expected)):
        compare(proof, f"value in float32 against float64, result {number}", single, result, exact, spreads.of(number))
    if setting.places and not setting.subject.row.is_composite and all(map(fits, expected)):
        check_gradients(setting, single, model, proof)


def narrowed(setting: Setting) -> Values:
    """The values in float32; what else depends on the dtype is the sample's own."""
    arrays = {p: a.astype(np.float32) if is_real(a) else a for p, a in places_of(setting.values)}
    return replaced(setting.case.values(np.float32), arrays)


def fits(array: Array) -> bool:
    """Whether float32 holds all numbers."""
    return array.dtype.kind not in "fc" or bool(np.all(np.abs(array) < RANGE[0]))


def compare(
    proof: Proof, name: str, single: Setting, found: Array, expected: Array, spread_of: Callable[[Array], Array | None]
) -> None:
    """As far as float32 holds the numbers; the spread is only asked for in doubt."""
    if expected.dtype.kind not in "fc":
        return
    size = np.abs(expected)
    counts = np.isfinite(size) & (size < RANGE[0])
    as_terms = np.minimum(UNITS * UNIT * largest_input(single), DIGITS * np.where(counts, size, 0.0))
    allowed = UNITS * UNIT * np.max(size, where=counts, initial=0.0) + as_terms + RANGE[1]
    if found.shape != expected.shape or is_near(found, expected, counts, allowed):
        proof.expect("float32", name, single.label, "")
        return
    spread = spread_of(expected)
    if spread is None or is_near(found, expected, counts & np.isfinite(spread), allowed + UNITS * spread):
        problem = ""
    else:
        plain = difference(np.where(counts, found, 0), np.where(counts, expected, 0), 0.0, 0.0)
        problem = f"{plain}, more than rounding the inputs would change"
    proof.expect("float32", name, single.label, problem)


def largest_input(setting: Setting) -> float:
    """Magnitude of the terms that a result may at least be made of."""
    return max((largest(array) for _, array in places_of(setting.values)), default=0.0)


def is_near(found: Array, expected: Array, counts: Array, allowed: Any) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.all(~counts | (np.abs(found - expected) <= allowed)))


# ---- what rounding changes


class Spreads:
    """By how much rounding changes some arrays, computed when it is asked for."""

    def __init__(self, rounded: Callable[[], Iterator[Mapping[Any, Array]]]) -> None:
        self.rounded = rounded

    @cached_property
    def arrays(self) -> list[Mapping[Any, Array]]:
        try:
            return list(self.rounded())
        except (*REFUSALS, NotEvaluable, AttributeError):
            return []

    def of(self, key: Any) -> Callable[[Array], Array | None]:
        """None where nothing is known."""

        def spread(expected: Array) -> Array | None:
            others = [arrays[key] for arrays in self.arrays if key in arrays]
            if not others or any(other.shape != expected.shape for other in others):
                return None
            return np.asarray(sum(np.abs(other - expected) for other in others), np.float64)

        return spread


def rounded(array: Any, random: np.random.Generator) -> Any:
    change = random.uniform(-1, 1, np.shape(array))
    return np.asarray(array * (1 + UNIT * change) + SMALLEST * change)


def rounded_results(setting: Setting) -> Iterator[Mapping[Any, Array]]:
    for seed in range(ROUNDINGS):
        random = np.random.default_rng(seed)
        arrays = {p: rounded(a, random) for p, a in places_of(setting.values) if is_real(a)}
        yield dict(enumerate(setting.results(replaced(setting.values, arrays))))


# ---- gradients


def check_gradients(setting: Setting, single: Setting, model: Model, proof: Proof) -> None:
    given = [w.astype(root.dtype) for w, root in zip(setting.weights(), single.root_arrays())]
    wide = [w.astype(root.dtype) for w, root in zip(given, setting.root_arrays())]
    situation = situation_of(setting, model, wide)
    if situation is None:
        return
    expected = dict(zip(setting.places, setting.gradients(wide)))
    spreads = Spreads(lambda: rounded_gradients(setting, model, wide, situation))
    for place, found in zip(single.places, single.gradients(given)):
        compare(
            proof, f"{name_of(place)} in float32 against float64", single, found, expected[place], spreads.of(place)
        )


def rounded_gradients(
    setting: Setting, model: Model, weights: list[Array], situation: Situation
) -> Iterator[Mapping[Any, Array]]:
    """Values of the formulas for rounded arguments, results and gradients, and for the results of rounded arguments."""
    for seed in range(ROUNDINGS):
        random = np.random.default_rng(seed)
        names = {name: rounded_tensor(value, random) for name, value in situation.names.items()}
        yield gradients_of(situation, names, [rounded_tensor(gradient, random) for gradient in situation.gradients])
        arrays = {p: rounded(a, random) for p, a in places_of(setting.values) if is_real(a)}
        other = situation_of(setting.with_values(replaced(setting.values, arrays), "rounded"), model, weights)
        if other is not None:
            yield gradients_of(other, other.names, other.gradients)
        if setting.subject.row.cancellation:
            stepwise = replace(situation, model=replace(model, evaluator=Stepwise(model.evaluator.functions, random)))
            yield gradients_of(stepwise, situation.names, situation.gradients)


@dataclass(frozen=True)
class Stepwise(Evaluator):
    """Rounds the result of every step: what an entry that speaks of `cancellation` may lose."""

    random: np.random.Generator

    def value(self, expr: Expr, around: Surroundings) -> Any:
        found = super().value(expr, around)
        is_step = isinstance(expr, (Call, Operator, Conditional))
        return rounded_tensor(found, self.random) if is_step else found


def gradients_of(situation: Situation, names: Mapping[str, Any], gradients: Sequence[Any]) -> Mapping[Any, Array]:
    found: dict[Any, Array] = {}
    for rule in situation.variant.backward.gradients if situation.variant.backward else ():
        found.update(situation.gradients_for(rule, dict(names), list(gradients)))
    return found


def rounded_tensor(value: Any, random: np.random.Generator) -> Any:
    if isinstance(value, list):
        return [rounded_tensor(part, random) for part in value]
    if isinstance(value, gs.Tensor) and value.dtype in (np.float64, np.complex128):
        return gs.tensor(rounded(array_of(value), random))
    return value
