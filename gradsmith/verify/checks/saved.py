"""Saved tensors: each is read by some gradient, and none changes unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ..references.refusals import REFUSALS
from ..samples import array_of, as_tensors, at, leaves_among, places_of

if TYPE_CHECKING:
    from ..case import Setting, Subject
    from ..proof import Proof
    from ..samples import Array, Place

PREFIX = "_saved_"
SAME = 1e-12


def check(subject: Subject, proof: Proof) -> None:
    check_needed(subject, proof)
    for case in subject.cases:
        check_overwritten(subject.setting(case), proof)


def check_overwritten(setting: Setting, proof: Proof) -> None:
    """After an input or a result is overwritten, backward gives the gradients it would have given, or raises."""
    if not setting.places or setting.subject.row.base.endswith("_"):
        return
    weights = setting.weights()
    plain = setting.gradients(weights)
    given = dict(places_of(setting.values))
    results = {("result", n): root for n, root in enumerate(setting.root_arrays())}
    for place in (place for place, array in (given | results).items() if array.size):
        found = gradients_after_overwriting(setting, place, weights)
        is_same = found is None or all(np.allclose(*pair, SAME, 0, equal_nan=True) for pair in zip(found, plain))
        name = f"{place[0]!r}" if place in given else f"result {place[1]}"
        problem = "" if is_same else "changes when it is overwritten before backward, and no error says so"
        proof.expect("saved", f"a gradient that needs {name}", setting.label, problem)


def gradients_after_overwriting(setting: Setting, place: Place, weights: list[Array]) -> list[Array] | None:
    """None where the version counter refuses."""
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    roots = setting.roots(tensors)
    target = roots[int(place[1])] if place[0] == "result" else at(tensors, place)
    target.detach().zero_()
    try:
        found = grad(roots, leaves, [gs.tensor(w) for w in weights], materialize_grads=True)
    except RuntimeError as error:
        if "modified" in str(error):
            return None
        raise
    return [array_of(gradient) for gradient in found]


def check_needed(subject: Subject, proof: Proof) -> None:
    """Over all samples together: what one of them does not need another may."""
    if subject.row.is_composite:
        return  # its parts are entries of their own
    read: dict[str, bool] = {}
    for setting in subject.differentiable_settings():
        weights = setting.weights()
        for name in saved_tensors(setting):
            read[name] = read.get(name, False) or is_read(setting, name, weights)
    for name, is_used in read.items():
        problem = "" if is_used else "is saved but not used: no gradient changes when it is filled with NaN"
        proof.expect("saved", f"{name!r}", "all samples", problem)


def record(setting: Setting) -> tuple[list[Any], list[Any], Any]:
    """Results, leaves and the node of a call."""
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    roots = setting.roots(tensors)
    return roots, leaves, roots[0].grad_fn


def saved_tensors(setting: Setting) -> Iterator[str]:
    """Names under which the node keeps tensors that hold something to poison."""
    _, _, node = record(setting)
    for attribute in dir(node):
        if attribute.startswith(PREFIX) and is_poisonable(getattr(node, attribute)):
            yield attribute.removeprefix(PREFIX)


def is_poisonable(saved: Any) -> bool:
    return isinstance(saved, gs.Tensor) and saved.dtype.kind in "fcb" and saved.numel() > 0


def is_read(setting: Setting, name: str, weights: list[Array]) -> bool:
    plain = setting.gradients(weights)
    roots, leaves, node = record(setting)
    poison(array_of(getattr(node, PREFIX + name)))
    try:
        poisoned = grad(roots, leaves, [gs.tensor(w) for w in weights], materialize_grads=True)
    except REFUSALS:  # a mask that names other places than were taken, or what refuses NaN
        return True
    return any(not np.array_equal(array_of(one), other) for one, other in zip(poisoned, plain))


def poison(array: Array) -> None:
    """Change the array without counting in the version, which would raise an error."""
    array[...] = ~array if array.dtype.kind == "b" else np.nan
