"""A derivative that is not implemented raises the error of the entry in both modes; it is never zero or NaN."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual

from ...samples import as_tensors, at, leaves_among, not_implemented, places_of, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...case import Setting, Subject
    from ...proof import Proof
    from ...samples import Place


def check(subject: Subject, proof: Proof) -> None:
    """An input that no sample gives a floating dtype has not been run."""
    refused = not_implemented(subject.row)
    tried = set()
    for setting in subject.settings() if refused else ():
        for place, array in places_of(setting.values):
            if place[0] in refused and array.dtype.kind in "fc":
                check_place(setting, place, refused[place[0]], proof)
                tried.add(place[0])
    for name in refused.keys() - tried:
        proof.not_run[f"gradient of {name!r}"] = refused[name]


def check_place(setting: Setting, place: Place, formula: str, proof: Proof) -> None:
    words = formula.removeprefix("not_implemented(").removesuffix(")").strip("'\"")
    for mode, differentiate in (("gradient", backward), ("tangent", forward)):
        problem = problem_of(partial(differentiate, setting, place), words)
        along = f"the refusal of the {mode} of {place[0]!r}"
        proof.expect("refusals", along, setting.label, problem)


def problem_of(differentiate: Callable[[], object], words: str) -> str:
    try:
        differentiate()
    except NotImplementedError as error:
        return "" if words in str(error) else f"is {error}; expected one that says {words!r}"
    return f"does not come, expected one that says {words!r}"


def backward(setting: Setting, place: Place) -> None:
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, [place])
    roots = [root for root in setting.roots(tensors) if root.requires_grad]
    grad(roots, leaves, [gs.ones_like(root) for root in roots])


def forward(setting: Setting, place: Place) -> None:
    tensors = as_tensors(setting.values)
    with dual_level():
        tensor = at(tensors, place)
        dual = make_dual(tensor, gs.tensor(np.ones(tensor.shape), dtype=tensor.dtype))
        setting.subject.call(replaced(tensors, {place: dual}))
