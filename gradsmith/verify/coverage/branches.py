"""Every choice in a formula has to go both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import gradsmith as gs
from gradsmith.codegen.formula.facts import is_unknown
from gradsmith.codegen.formula.formula import Call, Conditional, Expr, IsWanted, Literal, RunFact
from gradsmith.codegen.spec.names import tangent_name

from ..case import Setting, some_used
from ..references.refusals import REFUSALS
from ..trees.evaluator import Trace, is_where
from ..trees.functions import NotEvaluable
from ..trees.situation import Situation, situation_of
from ..trees.text import written
from ..variations import neighbours_of, written_sample
from .gap import Gap, sample_to_add

if TYPE_CHECKING:
    from gradsmith.codegen.model import Variant

    from ..case import Subject
    from ..samples import Values
    from ..trees.models import Model


Looked = tuple[Setting, "Values | None"]  # the tensors where they are not simply the setting's


def gaps_of(subject: Subject, model: Model, calls: Iterable[Looked]) -> Iterator[Gap]:
    trace = Trace()
    for setting, tensors in calls:
        note(setting, model, trace, tensors)
    for where, choice in choices_of(model):
        missing = [flag for flag in possible(choice) if flag not in trace.of(choice)]
        if missing and trace.of(choice) | set(missing) == {True, False}:
            yield gap_of(subject, model, where, choice, missing)


def choices_of(model: Model) -> Iterator[tuple[str, Expr]]:
    """Each text once over the variants that share it."""
    for variant in model.op.variants:
        for where, formula in formulas_of(variant):
            yield from ((where, part) for part in formula.walk() if is_choice(part))


def formulas_of(variant: Variant) -> Iterator[tuple[str, Expr]]:
    for rule in variant.backward.gradients if variant.backward else ():
        yield f"the formula of '{', '.join(rule.inputs)}'", rule.formula.expr
    for tangent in variant.tangents.outputs if variant.tangents and variant.tangents.declared else ():
        yield from (("the formula of the tangent", term.expr) for term in tangent.terms)
    if variant.forward.kind == "composite" and variant.forward.formula is not None:
        yield "the forward", variant.forward.formula.expr


def is_choice(part: Expr) -> bool:
    return isinstance(part, (Conditional, IsWanted)) or (is_where(part) and isinstance(part, Call))


def possible(choice: Expr) -> tuple[bool, ...]:
    """The ways that can be taken: not into what nobody has worked out, nor past a constant."""
    if not isinstance(choice, Conditional):
        return (True, False)
    if isinstance(choice.test, Literal) or any(isinstance(part, RunFact) for part in choice.test.walk()):
        return ()  # no sample decides what a run is: first and second derivatives are runs of both kinds
    return tuple(flag for flag, part in ((True, choice.body), (False, choice.orelse)) if not is_unknown(part))


def note(setting: Setting, model: Model, trace: Trace, tensors: Values | None = None) -> None:
    """Evaluate all formulas for one call; what cannot be evaluated was not looked at."""
    try:
        situation = situation_of(setting, model, tensors=tensors)
    except REFUSALS:
        return
    if situation is None:
        return
    for each in (situation, *with_undefined(situation)):
        note_formulas(each, trace)
    note_tangents(situation, trace)
    forward = situation.variant.forward
    if forward.kind == "composite" and forward.formula is not None:
        evaluate(situation, forward.formula.expr, trace, None)


def with_undefined(situation: Situation) -> Iterator[Situation]:
    """The same call with undefined gradients, where there are several."""
    every = frozenset(range(len(situation.weights)))
    yield from (replace(situation, unused=every - used) for used in some_used(len(every)))


def note_formulas(situation: Situation, trace: Trace) -> None:
    for rule in situation.variant.backward.gradients if situation.variant.backward else ():
        for wanted in [None, *(frozenset({name}) for name in rule.inputs)]:
            evaluate(situation, rule.formula.expr, trace, wanted)


def note_tangents(situation: Situation, trace: Trace) -> None:
    """With a tangent of every input."""
    tangents = situation.variant.tangents
    if tangents is None or not tangents.declared:
        return
    values = {name: situation.names.get(name) for name in tangents.inputs}
    along = {tangent_name(name): like(value) for name, value in values.items() if value is not None}
    for tangent in tangents.outputs:
        for term in tangent.terms:
            evaluate(situation, term.expr, trace, None, along)


def like(value: Any) -> Any:
    return [like(part) for part in value] if isinstance(value, list) else gs.ones_like(value)


def evaluate(
    situation: Situation,
    expr: Expr,
    trace: Trace,
    wanted: frozenset[str] | None,
    tangents: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    try:
        names = {**situation.names, **tangents}
        around = situation.surroundings(names, situation.gradients, wanted=wanted, trace=trace)
        with gs.no_grad():
            situation.model.evaluator.value(expr, around)
    except (*REFUSALS, NotEvaluable, AttributeError):
        return


def gap_of(subject: Subject, model: Model, where: str, choice: Expr, missing: list[bool]) -> Gap:
    test = choice.test if isinstance(choice, Conditional) else choice
    test = choice.arguments[0] if isinstance(choice, Call) else test
    way = "true" if missing[0] else "false"
    text = f"`{written(test)}` in {where} is never {way}"
    for neighbour in neighbours_of(subject, model.op):
        if neighbour.setting is not None and neighbour.is_accepted:
            trace = Trace()
            note(neighbour.setting, model, trace)
            if missing[0] in trace.of(choice):
                return Gap(text, sample_to_add(written_sample(neighbour.variation.sample)))
    return Gap(text, f"a sample where it is {way}")
