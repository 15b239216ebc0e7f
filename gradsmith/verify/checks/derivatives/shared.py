"""Tensors and memory that are shared: one tensor as two arguments, results in the memory of an input."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd import grad

from ...numeric import weights_like
from ...proof import largest
from ...samples import array_of, as_tensors, at, leaves_among, places_of, replaced

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Place, Values

SAME = 1e-12


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.settings():
        check_memory(setting, proof)
        for pair in combinations(setting.places, 2):
            one, other = (at(setting.values, place) for place in pair)
            if one.shape == other.shape:
                check_twice(setting, pair, proof)


def check_memory(setting: Setting, proof: Proof) -> None:
    """A result that is no view has memory of its own; what gives back an input as it is says so by being composite."""
    row = setting.subject.row
    if row.is_composite or row.base.endswith("_"):
        return
    tensors = as_tensors(setting.values)
    results = setting.subject.call(tensors).made(array_of)
    inputs = {place[0]: array_of(at(tensors, place)) for place, _ in places_of(setting.values)}
    for result, number in zip(results, results.outputs):
        shared = [name for name, array in inputs.items() if np.may_share_memory(result, array)]
        if not (row.is_view or (row.result_types and "(" in row.result_types[number])):
            problem = f"is that of {shared[0]!r}, which the signature does not say" if shared else ""
        else:
            problem = (
                "" if shared or not result.size or may_copy(row.base) else "is its own, though it is declared a view"
            )
        proof.expect("value", "the memory of a result", setting.label, problem)


def may_copy(base: str) -> bool:
    """A reshape is a view where the memory allows it."""
    return "reshape" in base


def check_twice(setting: Setting, pair: tuple[Place, Place], proof: Proof) -> None:
    """A tensor that is given twice counts like two that are equal; its gradient is the sum of theirs."""
    values = replaced(setting.values, {pair[1]: at(setting.values, pair[0]).copy()})
    apart = as_tensors(values)
    leaves = leaves_among(apart, pair)
    results, expected = results_and_gradients(setting, apart, leaves)
    together = as_tensors(values)
    (leaf,) = leaves_among(together, pair[:1])
    same, found = results_and_gradients(setting, replaced(together, {pair[1]: leaf}), [leaf])
    name = f"of one tensor as {pair[0][0]!r} and {pair[1][0]!r}"
    for one, other in zip(same, results):
        proof.compare("value", f"value {name}", setting.label, one, other, SAME)
    terms = largest(expected[0]) + largest(expected[1])
    proof.compare("reverse", f"gradient {name}", setting.label, found[0], expected[0] + expected[1], SAME, terms)


def results_and_gradients(setting: Setting, tensors: Values, leaves: list[Any]) -> tuple[list[Any], list[Any]]:
    results = setting.subject.call(tensors)
    roots = [root for root in setting.subject.differentiable(results) if root.requires_grad]
    weights = weights_like([array_of(root) for root in roots], "shared")
    given = as_tensors({str(number): weight for number, weight in enumerate(weights)})
    found = grad(roots, leaves, list(given.values()), materialize_grads=True)
    return [array_of(result) for result in results], [array_of(g) for g in found]
