"""The third derivative against differences of the second, along one random direction of all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ... import numeric
from ...proof import largest
from ...samples import array_of
from .forward import directions_of, moved

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array

DIFFERENCES = 1e-6


def check(subject: Subject, proof: Proof) -> None:
    """A function of the table may end what can be differentiated here too."""
    for setting in subject.differentiable_settings():
        try:
            check_setting(setting, proof)
        except NotImplementedError as error:
            proof.not_run["third"] = str(error).rstrip(".")
            return


def check_setting(setting: Setting, proof: Proof) -> None:
    weights, directions = setting.weights(), directions_of(setting)
    label = setting.case.id
    seconds, leaves = second_derivatives(setting, weights)
    outer = numeric.weights_like([array_of(second) for second in seconds], label + " third")
    thirds = derivatives(seconds, leaves, outer)
    found = sum(numeric.inner(third, directions[place]) for third, place in zip(thirds, setting.places))

    def loss(step: Array) -> float:
        others, _ = second_derivatives(moved(setting, directions, float(step)), weights)
        return numeric.loss([array_of(second) for second in others], outer)

    expected = numeric.slope(loss, np.zeros(()), np.ones(()))
    along = numeric.magnitude(thirds, list(directions.values()))
    size = numeric.magnitude([array_of(second) for second in seconds], outer)
    size += max(map(largest, setting.gradients(weights)), default=0.0)  # what it is rounded by, if it should be zero
    terms = numeric.terms_of(np.asarray(along), size, DIFFERENCES)
    proof.compare("double", "third derivative", setting.label, found, expected, DIFFERENCES, terms)


def second_derivatives(setting: Setting, weights: list[Array]) -> tuple[list[Any], list[Any]]:
    """Of a fixed combination of the gradients, with their history; and the leaves."""
    firsts, leaves, _ = setting.recorded_gradients(weights)
    outer = numeric.weights_like([array_of(first) for first in firsts], setting.case.id + " outer")
    return combined(firsts, leaves, outer, create_graph=True), leaves


def derivatives(tensors: list[Any], leaves: list[Any], weights: list[Array]) -> list[Array]:
    return [array_of(found) for found in combined(tensors, leaves, weights, create_graph=False)]


def combined(tensors: Any, leaves: list[Any], weights: list[Array], *, create_graph: bool) -> list[Any]:
    """Gradients of the weighted tensors; zeros where they depend on nothing."""
    recorded = [(tensor, gs.tensor(w)) for tensor, w in zip(tensors, weights) if tensor.requires_grad]
    if not recorded:
        return [gs.zeros(leaf.shape, dtype=leaf.dtype) for leaf in leaves]
    roots, given = zip(*recorded)
    return list(grad(roots, leaves, given, create_graph=create_graph, materialize_grads=True))
