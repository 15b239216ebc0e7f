"""Gradients and tangents through a batch: taken inside of the mapped function, and outside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs

from ... import numeric
from ...references.refusals import REFUSALS
from ...samples import array_of, at, replaced
from .batch import ONCE, SLICES, Batch, batches_of, compare, compare_results, tried, vmapped

if TYPE_CHECKING:
    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Array, Values


def check(subject: Subject, proof: Proof) -> None:
    for setting in subject.differentiable_settings():
        for batch in batches_of(setting):
            compare("gradients taken inside of a batch", gradients_inside(setting), batch, proof, ONCE)
            compare("tangents taken inside of a batch", tangents_inside(setting), batch, proof, ONCE)
            check_outside(batch, proof)


def roots_of(setting: Setting, values: Values) -> Callable[..., list[Any]]:
    """The differentiable results, as a function of the tensors that have a gradient."""
    return lambda *parts: setting.roots(replaced(values, dict(zip(setting.places, parts))))


def inputs_of(setting: Setting, values: Values) -> list[Any]:
    return [at(values, place) for place in setting.places]


def gradients_inside(setting: Setting) -> Callable[[Values], Sequence[Any]]:
    weights = [gs.tensor(w) for w in setting.weights()]

    def gradients(values: Values) -> Sequence[Any]:
        roots, pulled = gs.func.vjp(roots_of(setting, values), *inputs_of(setting, values))
        return list(pulled(weights[: len(roots)]))

    return gradients


def tangents_inside(setting: Setting) -> Callable[[Values], Sequence[Any]]:
    directions = [gs.tensor(v) for v in directions_of(setting)]

    def tangents(values: Values) -> Sequence[Any]:
        inputs = tuple(inputs_of(setting, values))
        return list(gs.func.jvp(roots_of(setting, values), inputs, tuple(directions))[1])

    return tangents


def directions_of(setting: Setting) -> list[Array]:
    random = np.random.default_rng(2)
    return [numeric.draw(random, at(setting.values, place)) for place in setting.places]


# ---- outside


def check_outside(batch: Batch, proof: Proof) -> None:
    """The same weights, and the same directions, for all slices."""
    setting, label = batch.setting, batch.label(SLICES, 0)
    try:
        gradients = batch.looped(gradients_inside(setting))
        tangents = batch.looped(tangents_inside(setting))
    except REFUSALS:
        return
    stacked = [np.stack(parts) for parts in zip(*gradients)]
    expected = [g if p in batch.places else g.sum(0) for p, g in zip(setting.places, stacked)]
    found = tried(lambda: gradients_outside(batch), "gradients through a batch", label, proof)
    if found is not None:
        compare_results("gradients through a batch", label, found, expected, proof)
    found = tried(lambda: tangents_outside(batch), "tangents through a batch", label, proof)
    if found is not None:
        compare_results("tangents through a batch", label, found, [np.stack(parts) for parts in zip(*tangents)], proof)


def gradients_outside(batch: Batch) -> list[Array]:
    weights = [gs.tensor(np.stack([w] * SLICES)) for w in batch.setting.weights()]
    function, inputs = whole(batch)
    _, pulled = gs.func.vjp(function, *inputs)
    return list(map(array_of, pulled(weights)))


def tangents_outside(batch: Batch) -> list[Array]:
    places = batch.setting.places
    directions = [
        gs.tensor(np.stack([v] * SLICES) if place in batch.places else v)
        for place, v in zip(places, directions_of(batch.setting))
    ]
    function, inputs = whole(batch)
    return list(map(array_of, gs.func.jvp(function, inputs, tuple(directions))[1]))


def whole(batch: Batch) -> tuple[Callable[..., list[Any]], tuple[Any, ...]]:
    """`vmap` of the differentiable results, as a function of all inputs that have a gradient, and these."""
    places = batch.setting.places
    stacked = {place: gs.tensor(batch.stacked(place, SLICES)) for place in batch.places}
    inputs = tuple(stacked[p] if p in stacked else gs.tensor(at(batch.setting.values, p)) for p in places)

    def function(*parts: Any) -> list[Any]:
        given = dict(zip(places, parts))
        plain = {place: part for place, part in given.items() if place not in batch.places}

        def one(*ones: Any) -> list[Any]:
            return batch.setting.roots(replaced(batch.tensors(ones), plain))

        mapped = [given.get(place, stacked[place]) for place in batch.places]
        return vmapped(one, mapped, (0,) * len(mapped))

    return function, inputs
