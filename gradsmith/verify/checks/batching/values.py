"""Values under `vmap`: of the samples, of samples with other sizes, and of one call of `vmap` inside of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs

from ...calls import changed_by
from ...references.refusals import REFUSALS
from ...samples import array_of, at, replaced
from .batch import SLICES, batches_of, compare, compare_results, tried, vmapped

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof
    from .batch import Batch

OUTER = 2


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.settings():
        batch = None
        for batch in batches_of(setting):
            compare("values of a batch", subject.call, batch, proof)
        if batch is not None:
            check_nested(batch, proof)
            check_crossed(batch, proof)


def check_nested(batch: Batch, proof: Proof) -> None:
    """All tensors differ at two levels; the outer one begins with another slice each time."""
    name, label = "values of a batch of batches", batch.label(SLICES, 0)
    order = [[(i + j) % SLICES for j in range(SLICES)] for i in range(OUTER)]
    stacked = [gs.tensor(batch.stacked(place, SLICES)[np.array(order)]) for place in batch.places]
    slices = batch.looped(batch.setting.subject.call)
    expected = [np.stack([np.stack([slices[n][k] for n in row]) for row in order]) for k in range(len(slices[0]))]
    zeros = (0,) * len(stacked)

    def inner(*parts: Any) -> list[Any]:
        return vmapped(lambda *ones: batch.setting.subject.call(batch.tensors(ones)), parts, zeros)

    found = tried(lambda: list(map(array_of, vmapped(inner, stacked, zeros))), name, label, proof)
    if found is not None:
        compare_results(name, label, found, expected, proof)


def check_crossed(batch: Batch, proof: Proof) -> None:
    """The first tensor differs at the outer level, the others at the inner one."""
    first, *others = batch.places
    if not others or changed_by(batch.setting.subject.row):
        return
    calls = [[replaced(values, {first: at(batch.slices[n], first)}) for values in batch.slices] for n in range(SLICES)]
    try:
        results = [[batch.setting.results(values) for values in row] for row in calls]
    except REFUSALS:
        return
    outside, *inside = (gs.tensor(batch.stacked(place, SLICES)) for place in batch.places)
    zeros = (0,) * len(inside)

    def inner(one: Any) -> list[Any]:
        return vmapped(lambda *rest: batch.setting.subject.call(batch.tensors([one, *rest])), inside, zeros)

    name, label = "values of a batch of batches, each of other tensors", batch.label(SLICES, 0)
    found = tried(lambda: list(map(array_of, vmapped(inner, [outside], (0,)))), name, label, proof)
    if found is not None:
        expected = [np.stack([np.stack([one[k] for one in row]) for row in results]) for k in range(len(results[0][0]))]
        compare_results(name, label, found, expected, proof)
