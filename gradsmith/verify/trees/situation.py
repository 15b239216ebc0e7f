"""One call of an op, as its formulas see it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ..calls import Results
from ..references.expected import sum_to
from ..samples import array_of, as_tensors, at, leaves_among
from ..seeds import seeded
from .evaluator import Surroundings, Trace

if TYPE_CHECKING:
    from gradsmith.codegen.formula.formula import Expr
    from gradsmith.codegen.model import GradientRule, Op, Variant
    from gradsmith.codegen.spec.schema import Argument

    from ..case import Setting
    from ..samples import Array, Place, Values
    from .models import Model


def variant_of(op: Op, values: Values) -> Variant | None:
    """The signature that a call means: which of the unions are numbers in it."""
    unions = [a.name for a in op.signature.arguments if a.type.union_scalar]
    numbers = {name for name in unions if not isinstance(values.get(name), np.ndarray)}
    return next((variant for variant in op.variants if set(variant.scalar_positions) == numbers), None)


def converted(argument: Argument, value: Any) -> Any:
    """A value of an argument as the wrapper passes it on."""
    if argument.type.name == "dtype" and value is not None:
        return np.dtype(value)
    if argument.type.is_list and argument.type.name != "Tensor" and value is not None:
        return tuple(value) if isinstance(value, (list, tuple)) else (value,) * (argument.type.length or 1)
    return value


@dataclass(frozen=True)
class Situation:
    """A setting, the variant that it calls, and the gradients of the results."""

    setting: Setting
    model: Model
    variant: Variant
    weights: Sequence[Array]
    tensors: Values | None = None  # in memory of another layout than that of the values
    unused: frozenset[int] = frozenset()  # results, by number among those with a gradient, that nothing is made of

    @cached_property
    def names(self) -> dict[str, Any]:
        """Arguments and results; nothing of it is recorded."""
        tensors = as_tensors(self.setting.values) if self.tensors is None else self.tensors
        return {**self.arguments(tensors), **self.outputs(self.setting.subject.call(tensors))}

    def arguments(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        tensors = seeded(tensors)
        for argument in self.variant.signature.arguments:
            if argument.name in tensors:
                given[argument.name] = converted(argument, tensors[argument.name])
            elif argument.default is not None:
                given[argument.name] = converted(argument, ast.literal_eval(argument.default))
        return given

    def outputs(self, results: Sequence[Any]) -> dict[str, Any]:
        signature = self.variant.signature
        if signature.returns_list:
            return {signature.output_names[0]: list(results)}
        if signature.has_plain_returns or not isinstance(results, Results):
            return dict(zip(signature.output_names, results))
        parts = [
            [part for part, output in zip(results, results.outputs) if output == number]
            for number in range(len(signature.returns))
        ]
        named = zip(signature.output_names, signature.returns, parts)
        return {
            name: found if returned.type.is_list else (found[0] if found else None) for name, returned, found in named
        }

    @cached_property
    def gradients(self) -> list[Any]:
        """Of every result; zeros of those without a history."""
        given = [None if n in self.unused else gs.tensor(w) for n, w in enumerate(self.weights)]
        return self.defined(given)

    def defined(self, given: Sequence[Any]) -> list[Any]:
        """Gradients of the results that have one, at their places among all, as a node numbers them."""
        signature = self.variant.signature
        if signature.returns_list:
            return list(given)
        rest, by_name = iter(given), {}
        for name, flag in zip(signature.output_names, self.model.op.output_differentiability):
            result = () if signature.has_plain_returns else self.names[name]
            count = len(result) if isinstance(result, list) else int(result is not None)
            by_name[name] = [next(rest) if flag else None for _ in range(count)]
        ordered = signature.in_gradient_order
        return [
            part for name, returned in ordered for part in by_name[name] or ([] if returned.type.is_list else [None])
        ]

    def compiled_gradients(self) -> dict[Place, Array]:
        """The gradients that the op itself gives."""
        used = [n for n in range(len(self.weights)) if n not in self.unused]
        tensors = as_tensors(self.setting.values)
        leaves = leaves_among(tensors, self.setting.places)
        roots = self.setting.roots(tensors)
        found = grad(
            [roots[n] for n in used], leaves, [gs.tensor(self.weights[n]) for n in used], materialize_grads=True
        )
        return {place: array_of(gradient) for place, gradient in zip(self.setting.places, found)}

    def surroundings(self, names: Mapping[str, Any], gradients: Sequence[Any], **more: Any) -> Surroundings:
        signature = self.variant.signature
        if signature.returns_list:
            return Surroundings(names, gradients, names[signature.output_names[0]], **more)
        single = [names[name] for name, returned in signature.in_gradient_order if not returned.type.is_list]
        list_start = len(single) if len(single) < len(signature.returns) else 0
        return Surroundings(names, gradients, single, list_start=list_start, **more)

    def value(self, expr: Expr, trace: Trace | None = None) -> Any:
        around = self.surroundings(self.names, self.gradients, trace=trace)
        with gs.no_grad():
            return self.model.evaluator.value(expr, around)

    def gradients_of(self, rule: GradientRule, expr: Expr, trace: Trace | None = None) -> dict[Place, Array]:
        """The gradients that a formula in the place of the rule's would give, as they arrive at the inputs."""
        return self._at_their_places(rule, self.value(expr, trace))

    def gradients_for(self, rule: GradientRule, names: Mapping[str, Any], grads: Sequence[Any]) -> dict[Place, Array]:
        """The value of the rule's own formula for other values of its names."""
        with gs.no_grad():
            found = self.model.evaluator.value(rule.formula.expr, self.surroundings(names, grads))
        return self._at_their_places(rule, found)

    def _at_their_places(self, rule: GradientRule, found: Any) -> dict[Place, Array]:
        parts = found if rule.is_joint else (found,)
        return {
            place: arrived(gradient, at(self.setting.values, place))
            for name, part in zip(rule.inputs, parts)
            for place, gradient in self.placed(name, part)
        }

    def placed(self, name: str, part: Any) -> list[tuple[Place, Any]]:
        places = [place for place in self.setting.places if place[0] == name]
        if len(places) == 1 and len(places[0]) == 1:
            return [(places[0], part)]
        return [(place, None if part is None else part[place[1]]) for place in places]


def arrived(gradient: Any, like: Array) -> Array:
    """A gradient as the engine passes it on: of the shape and the dtype of the input."""
    if gradient is None:
        return np.zeros_like(like)
    array = array_of(gradient)
    if array.shape != like.shape:
        array = sum_to(array, like.shape)
    if like.dtype.kind != "c" and array.dtype.kind == "c":
        array = array.real
    return np.asarray(array, like.dtype)


def situation_of(
    setting: Setting, model: Model, weights: Sequence[Array] | None = None, tensors: Values | None = None
) -> Situation | None:
    """None for a call that no variant takes."""
    variant = variant_of(model.op, setting.values)
    if variant is None:
        return None
    return Situation(setting, model, variant, setting.weights() if weights is None else weights, tensors)
