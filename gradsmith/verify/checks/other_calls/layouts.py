"""Inputs that are not plain: other strides, none along a dimension, unaligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.runtime.tensors.factories.creation import over_array

from ...numeric import weights_like
from ...proof import largest
from ...references.refusals import REFUSALS
from ...samples import array_of, as_tensors, leaves_among, places_of, replaced
from .resized import resized_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Values

SAME, ROUNDING = 1e-12, 1e-3


def unaligned(array: Array) -> Array:
    """A copy that starts at an odd address."""
    memory = np.empty(array.nbytes + 1, np.uint8)
    view: Array = np.ndarray(array.shape, array.dtype, memory, 1)
    view[...] = array
    return view


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "transposed": lambda a: np.array(a.T, order="C").T,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
    "reversed": lambda a: np.flip(np.flip(a).copy()),
    "broadcast": lambda a: np.broadcast_to(a, (2, *a.shape))[1],
    "rows of a block": lambda a: np.stack([a, a], axis=1)[:, 0] if a.ndim else a,
    "unaligned": unaligned,
}


def check(subject: Subject, proof: Proof) -> None:
    if subject.row.depends_on_layout:
        return
    for setting in (*subject.settings(), *resized_settings(subject, sizes=(1, 2))):
        try:
            expected = results_and_gradients(setting, as_tensors(setting.values))
        except REFUSALS:  # of a gradient at these sizes, as of the basis of a space of more than one dimension
            if "sizes" in setting.remark:
                continue
            raise
        for layout, change in LAYOUTS.items():
            compare(setting, relaid(setting.values, change), expected, layout, proof)
        check_expanded(setting, proof)


def check_expanded(setting: Setting, proof: Proof) -> None:
    """One row for all of them, by a stride of zero and in memory of its own."""
    for axis, name in ((0, "first"), (-1, "last")):
        expanded = {place: alike_along(array, axis) for place, array in places_of(setting.values)}
        alike = setting.with_values(replaced(setting.values, expanded), "rows alike")
        try:
            expected = results_and_gradients(alike, as_tensors(alike.values))
        except REFUSALS:  # such as that of a matrix without an inverse
            continue
        if all(np.all(np.isfinite(array)) for array in expected):
            tensors = relaid(alike.values, lambda a, axis=axis: alike_along(a, axis))  # type: ignore[misc]
            compare(alike, tensors, expected, f"expanded along the {name} dimension", proof)


def alike_along(array: Array, axis: int) -> Array:
    """The array's first part along an axis in place of all, with a stride of zero."""
    if not array.size or not array.ndim:
        return array
    return np.broadcast_to(array.take([0], axis), array.shape)


def compare(setting: Setting, tensors: Values, expected: list[Array], layout: str, proof: Proof) -> None:
    rounding = ROUNDING * max(map(largest, expected), default=0.0)  # of terms that cancel, as of rows that are alike
    for number, (one, other) in enumerate(zip(results_and_gradients(setting, tensors), expected)):
        name = f"number {number} of results and gradients, inputs {layout}"
        proof.compare("layouts", name, setting.label, one, other, SAME, max(largest(other), rounding))


def relaid(values: Values, change: Callable[[Array], Array]) -> Values:
    """The call's values as tensors over memory of another layout."""
    return replaced(values, {place: over_array(np.asarray(change(array))) for place, array in places_of(values)})


def results_and_gradients(setting: Setting, tensors: Values) -> list[Array]:
    """All results, and the gradients of a fixed combination of them."""
    leaves = leaves_among(tensors, setting.places)
    results = setting.subject.call(tensors)
    arrays = [array_of(r) for r in results]
    roots = [r for r in results if r.requires_grad]
    if not roots:
        return arrays
    weights = [gs.tensor(w) for w in weights_like([array_of(r) for r in roots], setting.case.id)]
    return arrays + [array_of(g) for g in grad(roots, leaves, weights, materialize_grads=True)]
