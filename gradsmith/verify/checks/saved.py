"""A saved tensor whose contents no gradient reads is memory for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ..references.refusals import REFUSALS
from ..samples import array_of, as_tensors, leaves_among

if TYPE_CHECKING:
    from ..case import Setting, Subject
    from ..proof import Proof
    from ..samples import Array

PREFIX = "_saved_"


def check(subject: Subject, proof: Proof) -> None:
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
