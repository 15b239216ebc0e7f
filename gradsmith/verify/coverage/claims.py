"""Claims of an entry about itself are tested too, because some checks are left out where they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradsmith.codegen.formula.formula import Expr, Operator
from gradsmith.codegen.formula.scope import TENSOR

from ..case import Subject
from ..checks.derivatives import surrogate
from ..checks.numbers import rounding, special
from ..checks.numbers.special import FAR, NUMBERS, with_numbers
from ..checks.other_calls.elementwise import is_elementwise
from ..checks.other_calls.layouts import LAYOUTS, relaid, results_and_gradients
from ..domains import is_inside
from ..proof import Proof
from ..references.refusals import REFUSALS
from ..samples import as_tensors, at, places_of
from ..trees.text import written
from .branches import formulas_of
from .gap import Gap

if TYPE_CHECKING:
    from ..case import Setting
    from ..trees.models import Model

_ORDER = frozenset({"<", "<=", ">", ">=", "==", "!="})


def gaps_of(subject: Subject, model: Model) -> Iterator[Gap]:
    row = subject.row
    if row.stops_gradient and not all(map(gives_an_input, subject.settings())):
        words = "`stops_gradient` is for an op that gives its input as it is"
        yield Gap(words, "the gradients, or make the op `composite(...)` of `detach`")
    if row.depends_on_layout and not any(map(differs_by_layout, subject.settings())):
        words = "`depends_on_layout` is not so: results and gradients are the same for all layouts"
        yield Gap(words, "a sample for which they differ, or leave the line out")
    yield from gaps_of_domain(subject)
    if row.surrogate and not surrogate.is_needed(subject):
        yield Gap(
            "`surrogate` is not needed: the value has the same derivatives",
            "a sample where it has others, or leave the line out",
        )
    if row.cancellation and not loses_digits(subject, model):
        yield Gap("`cancellation` is not so: float32 loses nothing", "a sample with lost digits, or leave the line out")
    if not (row.points or row.subgradient):
        yield from gaps_of_comparisons(model)


def gaps_of_domain(subject: Subject) -> Iterator[Gap]:
    """Where an elementwise op of one input has a value, its domain has to go."""
    for case in subject.cases:
        domain = subject.row.domain.get(case.inputs[0][0]) if len(case.inputs) == 1 else None
        if domain is None or not is_elementwise(subject, case):
            continue
        setting = with_numbers(subject, case, (*NUMBERS, *FAR), "numbers of all sizes")
        numbers = at(setting.values, case.inputs[0])
        try:
            (value,) = setting.results()
        except REFUSALS:
            continue
        bounds = (domain.lower, domain.upper)  # at which a value without a slope may be left out
        found = [float(x) for x, y in zip(numbers, value) if np.isfinite(y) and x not in bounds]
        outside = [x for x in found if not is_inside(x, domain)]
        if outside:
            yield Gap(f"the op has a value at {outside[0]}, outside of its `domain`", "this number to the `domain`")
            return


def loses_digits(subject: Subject, model: Model) -> bool:
    """Would the entry be wrong without the claim."""
    plain = Subject(subject.row._replace(cancellation=""), subject.module)
    trial = Proof(subject.row.base)
    special.check(plain, trial)
    rounding.check(plain, model, trial)
    return not trial.holds


def gives_an_input(setting: Setting) -> bool:
    """Are the results the inputs as they are, whatever their bytes are read as?"""
    given = [array.tobytes() for _, array in places_of(setting.values)]
    return all(result.tobytes() in given for result in setting.results())


def differs_by_layout(setting: Setting) -> bool:
    plain = results_and_gradients(setting, as_tensors(setting.values))
    for layout in LAYOUTS.values():
        try:
            found = results_and_gradients(setting, relaid(setting.values, layout))
        except REFUSALS:
            return True
        if any(one.shape != other.shape or not np.allclose(one, other) for one, other in zip(found, plain)):
            return True
    return False


def gaps_of_comparisons(model: Model) -> Iterator[Gap]:
    """A formula that compares decides something where its operands are equal."""
    for variant in model.op.variants:
        for where, formula in formulas_of(variant):
            test = next(filter(is_comparison, formula.walk()), None)
            if test is not None and variant.backward is not None:
                words = f"`{written(test)}` in {where} decides what the gradient is where both are equal"
                yield Gap(words, "`points` with such numbers, or a `subgradient`")
                return


def is_comparison(part: Expr) -> bool:
    return isinstance(part, Operator) and part.symbol in _ORDER and part.type == TENSOR
