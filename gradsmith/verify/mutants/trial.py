"""Every mutant of an entry's formulas is tried on its samples and points, and the rest on samples it does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..checks.derivatives.mixed import mixed_settings
from ..checks.numbers.points import point_settings
from ..checks.other_calls.elementwise import special_settings
from ..checks.other_calls.layouts import LAYOUTS, relaid
from ..checks.other_calls.resized import resized_settings
from ..coverage.gap import sample_to_add
from ..references.refusals import REFUSALS
from ..trees.functions import NotEvaluable
from ..trees.situation import Situation, situation_of
from ..trees.text import written
from ..variations import Variation, neighbours_of, setting_of, written_sample
from .equal import Algebra, explanation
from .exact import NOTICED, ROUNDED, differ
from .subjects import Mutated, Shown, mutated_of
from .tally import Equal, Survivor, Tally

if TYPE_CHECKING:
    from gradsmith.codegen.formula.formula import Expr
    from gradsmith.codegen.model import Variant

    from ..case import Subject
    from ..trees.models import Model

ENOUGH = 50  # calls in which a step gives the same
RAISED = (*REFUSALS, NotEvaluable, AttributeError, AssertionError)


@dataclass(frozen=True)
class Witness:
    """A call, and what the compiled op gives for it."""

    situation: Situation
    expected: Shown
    remedy: str = ""

    def notices(self, mutated: Mutated, tree: Expr, tolerance: float = NOTICED) -> bool:
        try:
            found = mutated.evaluated(self.situation, tree)
        except RAISED:
            return True
        return differ(found, self.expected, tolerance)


class Trial:
    """All mutants of one entry."""

    def __init__(self, subject: Subject, model: Model) -> None:
        self.subject = subject
        self.model = model
        self.tally = Tally()
        self.unlike: list[str] = []  # formulas that, evaluated step by step, are not the compiled ones

    def run(self) -> Tally:
        for variant in self.model.op.variants:
            for mutated in mutated_of(variant):
                self.try_all(variant, mutated)
        return self.tally

    def try_all(self, variant: Variant, mutated: Mutated) -> None:
        witnesses = list(self.witnesses(variant, mutated))
        if any(witness.notices(mutated, mutated.formula, ROUNDED) for witness in witnesses):
            self.unlike.append(f"{mutated.subject}: `{written(mutated.formula)}`")
            return
        rest = [m for m in mutated.mutants if not any(w.notices(mutated, m.tree) for w in witnesses)]
        self.tally.made += len(mutated.mutants)
        self.tally.killed += len(mutated.mutants) - len(rest)
        algebra = Algebra.of(variant)
        others = list(self.other_witnesses(variant, mutated)) if rest else []
        for mutant in rest:
            remedy = next((w.remedy for w in others if w.notices(mutated, mutant.tree)), "")
            if remedy:
                survivor = Survivor(mutated.subject, written(mutated.formula), mutant.text, remedy)
                self.tally.survivors.append(survivor)
                continue
            is_same = algebra.are_equal(mutant.tree, mutated.formula)
            calls = [witness.situation for witness in (*witnesses, *others)]
            because = "" if is_same else explanation(mutant, calls[:ENOUGH], mutated.step)
            self.tally.equal.append(Equal(mutated.subject, written(mutated.formula), mutant.text, because))

    # -- calls

    def witnesses(self, variant: Variant, mutated: Mutated) -> Iterator[Witness]:
        for situation in self.value_situations if mutated.is_value else self.situations:
            witness = expect_witness(situation, variant, mutated)
            if witness is not None:
                yield witness

    @cached_property
    def situations(self) -> list[Situation]:
        """Those that the checks have compared."""
        plain = [situation_of(setting, self.model) for setting in self.subject.differentiable_settings()]
        points = [
            situation_of(setting, self.model, [np.ones_like(r) for r in setting.root_arrays()])
            for setting in point_settings(self.subject)
        ]
        plain += [situation_of(setting, self.model) for setting in mixed_settings(self.subject)]
        known = [situation for situation in (*plain, *points) if situation is not None]
        return [*known, *(other for situation in known for other in with_unused_results(situation))]

    @cached_property
    def value_situations(self) -> list[Situation]:
        """Those whose values are compared with the reference."""
        settings = [
            *self.subject.settings(),
            *point_settings(self.subject),
            *resized_settings(self.subject),
            *special_settings(self.subject),
        ]
        found = [situation_of(setting, self.model) for setting in settings]
        for setting in () if self.subject.row.depends_on_layout else self.subject.settings():
            found += [
                situation_of(setting, self.model, tensors=relaid(setting.values, layout)) for layout in LAYOUTS.values()
            ]
        return [situation for situation in found if situation is not None]

    def other_witnesses(self, variant: Variant, mutated: Mutated) -> Iterator[Witness]:
        """Those of samples that the entry could have, for which the formula is what is compiled."""
        for variation, situation in self.other_situations:
            remedy = remedy_of(variation)
            witness = expect_witness(situation, variant, mutated, remedy)
            if witness is not None and not witness.notices(mutated, mutated.formula, ROUNDED):
                yield witness

    @cached_property
    def other_situations(self) -> list[tuple[Variation, Situation]]:
        return list(self._other_situations())

    def _other_situations(self) -> Iterator[tuple[Variation, Situation]]:
        for neighbour in neighbours_of(self.subject, self.model.op):
            variation = neighbour.variation
            for dtype in self.subject.dtypes if neighbour.is_accepted else ():
                try:
                    setting = setting_of(self.subject, variation.sample, dtype)
                    situation = situation_of(setting, self.model) if setting.places else None
                except REFUSALS:
                    continue
                if situation is not None:
                    yield variation, situation


def expect_witness(situation: Situation, variant: Variant, mutated: Mutated, remedy: str = "") -> Witness | None:
    """None for a call that is not of the variant, or in which the formula's inputs have no gradient."""
    if situation.variant is not variant:
        return None
    try:
        expected = mutated.compiled(situation)
    except RAISED:
        return None
    return Witness(situation, expected, remedy) if expected else None


def with_unused_results(situation: Situation) -> Iterator[Situation]:
    """Of several results one is used, as in the checks."""
    count = len(situation.weights)
    for used in range(count) if count > 1 else ():
        yield replace(situation, unused=frozenset(range(count)) - {used})


def remedy_of(variation: Variation) -> str:
    if variation.kind == "ties":
        return f"a point at which operands are equal or zero, or {sample_to_add(written_sample(variation.sample))}"
    return sample_to_add(written_sample(variation.sample))


def tried(subject: Subject, model: Model) -> tuple[Tally, Sequence[str]]:
    trial = Trial(subject, model)
    return trial.run(), trial.unlike
