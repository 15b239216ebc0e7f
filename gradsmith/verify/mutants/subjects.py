"""The formulas of a variant under mutation: for each, how a call shows what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level
from gradsmith.codegen.formula.facts import is_unknown
from gradsmith.codegen.formula.formula import Call, Expr, Gradient, Name
from gradsmith.codegen.formula.scope import TENSOR

from .. import numeric
from ..checks.derivatives import forward
from ..coverage.gradients import is_nothing
from ..samples import array_of, as_tensors, leaves_among
from ..trees.evaluator import Surroundings
from ..trees.situation import Situation
from .mutations import Mutant, Names, apart, mutants_of

if TYPE_CHECKING:
    from gradsmith.codegen.model import GradientRule, Tangent, Variant

    from ..samples import Array
Shown = Mapping[Any, "Array"]


@dataclass(frozen=True)
class Mutated:
    """A formula, its mutants, and two ways to what it gives for a call: compiled, and from a tree."""

    subject: str
    formula: Expr
    mutants: list[Mutant]
    compiled: Callable[[Situation], Shown]
    evaluated: Callable[[Situation, Expr], Shown]
    is_value: bool = False  # shown by calls that have no gradient, too
    step: Callable[[Situation, Expr], Any] = Situation.value  # what one step of the formula gives


def mutated_of(variant: Variant) -> Iterator[Mutated]:
    """All formulas that an entry has, apart from those that say there is none."""
    if variant.forward.formula is not None:
        yield of_forward(variant, variant.forward.formula.expr)
    for rule in variant.backward.gradients if variant.backward else ():
        if not (is_nothing(rule.formula.expr) or is_unknown(rule.formula.expr)):
            yield of_rule(variant, rule)
            yield of_rule_twice(rule)
    plain = variant.signature.returns_list or variant.signature.has_plain_returns
    if variant.tangents and variant.tangents.declared and plain:
        for tangent in variant.tangents.outputs:
            for number, _ in enumerate(tangent.terms):
                yield of_tangent(variant, tangent, number)


# ---- values


def of_forward(variant: Variant, formula: Expr) -> Mutated:
    names = {a.name: a.type.plain for a in variant.signature.arguments}

    def compiled(situation: Situation) -> Shown:
        return dict(enumerate(situation.setting.results()))

    def evaluated(situation: Situation, tree: Expr) -> Shown:
        found = situation.value(tree)
        parts = found if isinstance(found, (tuple, list)) else [found]
        like = situation.setting.results()
        return {n: as_result(part, like[n]) for n, part in enumerate(parts)}

    return Mutated("value", formula, mutants_of(formula, Names(names)), compiled, evaluated, is_value=True)


def as_result(part: Any, like: Array) -> Array:
    """A value as the wrapper gives it, which makes a tensor of a number."""
    return array_of(part) if isinstance(part, gs.Tensor) else np.asarray(part, like.dtype)


def names_in(variant: Variant) -> Names:
    signature = variant.signature
    types = {a.name: a.type.plain for a in signature.arguments}
    return Names(types | {n: r.type.plain for n, r in zip(signature.output_names, signature.returns)})


# ---- gradients


def of_rule(variant: Variant, rule: GradientRule) -> Mutated:
    def compiled(situation: Situation) -> Shown:
        found = situation.compiled_gradients()
        return {place: array for place, array in found.items() if place[0] in rule.inputs}

    transposed = () if rule.formula.is_pointwise else ("mT",)
    return Mutated(
        f"gradient of {' and '.join(map(repr, rule.inputs))}",
        rule.formula.expr,
        mutants_of(rule.formula.expr, names_in(variant), transposed),
        compiled,
        lambda situation, tree: situation.gradients_of(rule, tree),
    )


# ---- gradients of gradients


def of_rule_twice(rule: GradientRule) -> Mutated:
    """With the graph of one operand cut, which shows at the second order alone."""
    return Mutated(
        f"gradient of the gradient of {' and '.join(map(repr, rule.inputs))}",
        rule.formula.expr,
        list(cuts(rule.formula.expr)),
        lambda situation: second_derivatives(situation, rule, None),
        lambda situation, tree: second_derivatives(situation, rule, tree),
    )


def cuts(formula: Expr) -> Iterator[Mutant]:
    seen: set[str] = set()
    formula = apart(formula)
    for part in formula.walk():
        if isinstance(part, (Name, Gradient)) and part.type == TENSOR:
            cut = Call(TENSOR, "detach", "op_detach", "copy", (part,))
            mutant = Mutant("the graph cut", formula, part, cut)
            if mutant.text not in seen:
                seen.add(mutant.text)
                yield mutant


def second_derivatives(situation: Situation, rule: GradientRule, tree: Expr | None) -> Shown:
    """Of a fixed combination of the gradients; with a tree, of what it gives."""
    setting = situation.setting
    own = [n for n, place in enumerate(setting.places) if place[0] in rule.inputs]
    if not own or situation.unused:
        return {}
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    results = setting.subject.call(tensors)
    given = [gs.tensor(w, requires_grad=True) for w in situation.weights]
    if tree is None:
        every = grad(setting.subject.differentiable(results), leaves, given, create_graph=True, materialize_grads=True)
        firsts = [every[n] for n in own]
    else:
        firsts = list(recorded(situation, rule, tree, {**tensors}, results, given))
    outer = numeric.weights_like([np.empty(leaves[n].shape, leaves[n].dtype) for n in own], "outer")
    pairs = [(first, gs.tensor(w)) for first, w in zip(firsts, outer) if first.requires_grad]
    if not pairs:
        return {n: np.zeros(leaf.shape, leaf.dtype) for n, leaf in enumerate([*leaves, *given])}
    seconds = grad([f for f, _ in pairs], [*leaves, *given], [w for _, w in pairs], materialize_grads=True)
    return {n: array_of(second) for n, second in enumerate(seconds)}


def recorded(
    situation: Situation, rule: GradientRule, tree: Expr, tensors: dict[str, Any], results: list[Any], given: list[Any]
) -> Iterator[Any]:
    """The gradients that a tree gives, as the engine would pass them on, with their history."""
    names = {**situation.arguments(tensors), **situation.outputs(results)}
    found = situation.model.evaluator.value(tree, situation.surroundings(names, situation.defined(given)))
    for name, part in zip(rule.inputs, found if rule.is_joint else (found,)):
        for place, gradient in situation.placed(name, part):
            like = tensors[name] if len(place) == 1 else tensors[name][place[1]]
            yield passed_on(gradient, like)


def passed_on(gradient: Any, like: Any) -> Any:
    if gradient is None:
        return gs.zeros(like.shape, dtype=like.dtype)
    if gradient.shape != like.shape:
        gradient = gs.generated.reduce.sum_to(gradient, tuple(like.shape))
    if gradient.is_complex() and not like.is_complex():
        gradient = gradient.real
    return gradient.to(like.dtype)


# ---- tangents


def of_tangent(variant: Variant, tangent: Tangent, number: int) -> Mutated:
    term = tangent.terms[number].expr
    types = dict(names_in(variant).types)
    types |= {f"{name}_t": TENSOR for name in tangent.terms[number].reads}
    return Mutated(
        "tangent",
        term,
        mutants_of(term, Names(types), ()),
        lambda situation: {0: compiled_tangents(situation)[tangent.output]},
        lambda situation, tree: {0: evaluated_tangent(situation, tangent, number, tree)},
        step=step_of_tangent,
    )


def compiled_tangents(situation: Situation) -> list[Array]:
    setting = situation.setting
    with dual_level():
        return forward.tangents_of(setting.subject.call(forward.duals(setting.values, forward.directions_of(setting))))


def named_directions(situation: Situation) -> dict[str, Any]:
    """The tangents of the inputs by their names in formulas; of a list, all of them."""
    found: dict[str, Any] = {}
    for place, array in forward.directions_of(situation.setting).items():
        name = f"{place[0]}_t"
        if len(place) == 1:
            found[name] = gs.tensor(array)
        else:
            found.setdefault(name, []).append(gs.tensor(array))
    return found


def names_of_tangents(situation: Situation) -> dict[str, Any]:
    directions = forward.directions_of(situation.setting)
    return {**situation.names, **{f"{place[0]}_t": gs.tensor(array) for place, array in directions.items()}}


def step_of_tangent(situation: Situation, expr: Expr) -> Any:
    with gs.no_grad():
        return situation.model.evaluator.value(expr, Surroundings(names_of_tangents(situation)))


def evaluated_tangent(situation: Situation, tangent: Tangent, number: int, tree: Expr) -> Array:
    """The sum of the terms, one of which is `tree`; terms without a tangent are zero."""
    directions = named_directions(situation)
    names = {**situation.names, **directions}
    total: Any = 0
    with gs.no_grad():
        for n, term in enumerate(tangent.terms):
            if {f"{name}_t" for name in term.reads} <= names.keys():
                expr = tree if n == number else term.expr
                total = total + situation.model.evaluator.value(expr, Surroundings(names))
    like = array_of(situation.names[situation.variant.signature.output_names[tangent.output]])
    if isinstance(total, int):
        return np.zeros_like(like)
    found = array_of(total)
    return np.asarray(np.broadcast_to(found, like.shape), like.dtype)
