"""Every formula has to be compared where its gradient is not zero: in both modes, in every dtype of the op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsmith.codegen.formula.formula import Call, Conditional, Expr

from ..trees.situation import variant_of
from .gap import Gap

if TYPE_CHECKING:
    from gradsmith.codegen.model import Variant

    from ..case import Subject
    from ..proof import Compared
    from ..trees.models import Model

MODES = ("reverse", "forward")


def gaps_of(subject: Subject, model: Model, compared: frozenset[Compared]) -> Iterator[Gap]:
    variants = {case.number: variant_of(model.op, case.values()) for case in subject.cases}
    for variant in model.op.variants:
        numbers = {number for number, found in variants.items() if found is variant}
        yield from gaps_of_variant(subject, variant, numbers, compared)


def gaps_of_variant(
    subject: Subject, variant: Variant, numbers: set[int], compared: frozenset[Compared]
) -> Iterator[Gap]:
    for name in inputs_with_formula(variant):
        for mode in MODES:
            # A gradient that is not zero in the complex plane may be zero on the real line, as that of a sign is.
            dtype = subject.dtypes[-1]
            if not any((number, name, mode, dtype) in compared for number in numbers):
                words = f"no gradient of '{name}' other than zero was compared in {mode} mode and {dtype}"
                yield Gap(
                    words + given_words(variant),
                    f"a sample where '{name}' is a floating tensor with elements that the result depends on",
                )


def given_words(variant: Variant) -> str:
    """For which of several formulas."""
    numbers = variant.scalar_positions
    return f" where {' and '.join(map(repr, numbers))} is a number" if numbers else ""


def inputs_with_formula(variant: Variant) -> Iterator[str]:
    """Inputs whose gradient is not zero, or refused, by what the entry says."""
    for rule in variant.backward.gradients if variant.backward else ():
        if rule.is_joint or not is_nothing(rule.formula.expr):
            yield from rule.inputs


def is_nothing(formula: Expr) -> bool:
    match formula:
        case Conditional(body=body, orelse=orelse):
            return is_nothing(body) and is_nothing(orelse)
        case Call(function=function):
            return function in ("zeros_like", "not_implemented")
    return formula.type.name == "None"
