"""Why a mutant gives what its formula gives: by algebra, or because some step in it gives the same all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import gradsmith as gs
from gradsmith.codegen.formula.formula import AttributeOf, Call, Conditional, Expr, Literal, Name, Operator
from gradsmith.codegen.formula.substitute import rebuilt

from ..references.refusals import REFUSALS
from ..samples import array_of
from ..trees.functions import NotEvaluable
from ..trees.text import written
from .exact import NOTICED, differs
from .mutations import Mutant, replaced_part

if TYPE_CHECKING:
    from gradsmith.codegen.model import Variant

    from ..trees.situation import Situation

Value = Callable[["Situation", Expr], Any]  # of a step in a call

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_COMMUTATIVE = frozenset({"+", "*", "==", "!=", "&", "|"})
_MIRRORED = {">": "<", ">=": "<="}


# ---- by algebra


@dataclass(frozen=True)
class Algebra:
    """Normal forms of a variant's formulas: without what cannot matter, whatever the numbers are.

    That is a cut where no gradient flows anyway, whatever is done to a tensor of which only the dtype or the number of
    dimensions is asked, a choice between equals, and the order of operands that may be exchanged.
    """

    constants: frozenset[str]  # names of tensors that no gradient flows to

    @classmethod
    def of(cls, variant: Variant) -> Algebra:
        rules = variant.backward.gradients if variant.backward else ()
        differentiable = {name for rule in rules for name in rule.inputs}
        names = {a.name for a in variant.signature.arguments if a.type.is_tensor}
        return cls(frozenset(names - differentiable))

    def are_equal(self, one: Expr, other: Expr) -> bool:
        return written(rebuilt(one, self.simpler)) == written(rebuilt(other, self.simpler))

    def simpler(self, part: Expr) -> Expr:
        """One step in normal form, whose operands are already."""
        match part:
            case Call(function="detach", arguments=(Name(name=name), *_)) if name in self.constants:
                return part.arguments[0]
            case Call(function="where" | "zeros_like", arguments=(first, *rest)):
                return replace(part, arguments=(_without_cuts(first), *rest))
            case Call(function="maximum" | "minimum", arguments=arguments):
                return replace(part, arguments=tuple(sorted(arguments, key=written)))
            case AttributeOf(value=value):
                return replace(part, value=_owner(value))
            case Conditional(test=test, body=body, orelse=orelse):
                is_same = written(body) == written(orelse)
                return body if is_same else replace(part, test=_without_cuts(test))
            case Operator(symbol="neg", operands=(Operator(symbol="neg", operands=(inner,)),)):
                return inner
            case Operator(operands=(_, _)):
                return _operated(part)
        return part


def _operated(part: Operator) -> Operator:
    symbol, operands = part.symbol, part.operands
    if symbol in _COMPARISONS:
        operands = tuple(map(_without_cuts, operands))
    if symbol in _MIRRORED:
        symbol, operands = _MIRRORED[symbol], operands[::-1]
    if symbol in _COMMUTATIVE:
        operands = tuple(sorted(operands, key=written))
    return replace(part, symbol=symbol, operands=operands)


def _without_cuts(expr: Expr) -> Expr:
    return rebuilt(expr, lambda part: part.arguments[0] if _is_cut(part) and isinstance(part, Call) else part)


def _is_cut(part: Expr) -> bool:
    return isinstance(part, Call) and part.function == "detach"


def _owner(value: Expr) -> Expr:
    """The tensor of whose multiple a dtype or a size is asked."""
    match value:
        case Call(function="detach", arguments=(inner, *_)) | Operator(symbol="neg", operands=(inner,)):
            return _owner(inner)
        case Operator(symbol="*", operands=(inner, Literal()) | (Literal(), inner)):
            return _owner(inner)
    return value


# ---- by what the calls show


def explanation(mutant: Mutant, situations: Sequence[Situation], value: Value) -> str:
    """The smallest step around the change that gives the same in all calls."""
    if _is_cut(mutant.other):
        around = next(islice(path_to(mutant.whole, mutant.part), 1, None), mutant.part)
        return f"no gradient of the gradient arrives at `{written(mutant.part)}` through `{written(around)}`"
    for step in path_to(mutant.whole, mutant.part):
        changed = replaced_part(step, mutant.part, mutant.other)
        if all(gives_the_same(situation, step, changed, value) for situation in situations):
            return f"`{written(changed)}` is `{written(step)}` in {len(situations)} calls"
    return f"what arrives is the same in {len(situations)} calls"


def path_to(whole: Expr, part: Expr) -> Iterator[Expr]:
    """The part, the step that reads it, and so on up to the whole."""
    steps = [step for step in whole.walk() if any(inner is part for inner in step.walk())]
    yield from sorted(steps, key=lambda step: sum(1 for _ in step.walk()))


def gives_the_same(situation: Situation, one: Expr, other: Expr, value: Value) -> bool:
    try:
        return are_same(value(situation, one), value(situation, other))
    except (*REFUSALS, NotEvaluable, AttributeError, AssertionError):
        return False


def are_same(one: Any, other: Any) -> bool:
    """Of two values of a step: tensors and numbers but for rounding."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(are_same, one, other))
    if isinstance(one, gs.Tensor) and isinstance(other, gs.Tensor):
        return not differs(array_of(one), array_of(other), NOTICED)
    return type(one) is type(other) and bool(one == other)
