"""Ops that draw random numbers: from the generator that is given, by default from the one of `manual_seed`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import gradsmith as gs

from ..samples import array_of, as_tensors
from ..seeds import is_generator

if TYPE_CHECKING:
    from ..case import Setting, Subject
    from ..proof import Proof
    from ..samples import Array, Values

SEEDS = 10


def check(subject: Subject, proof: Proof) -> None:
    arguments = [argument for argument in subject.row.arguments if is_generator(argument)]
    for argument in arguments:
        for setting in subject.settings():
            check_seed(setting, argument.name, proof)
            if argument.default is not None:
                check_default(setting, argument.name, proof)
        settings = [setting for setting in subject.settings() if any(part.size for part in setting.results())]
        is_used = any(differs(setting, argument.name) for setting in settings)
        problem = "" if is_used else "is not used: other seeds give the same results"
        proof.expect("random", f"generator {argument.name!r}", "all samples", problem)


def check_seed(setting: Setting, name: str, proof: Proof) -> None:
    problem = "" if agree(setting.results(), setting.results()) else "draws other numbers under one seed"
    proof.expect("random", f"generator {name!r}", setting.label, problem)


def check_default(setting: Setting, name: str, proof: Proof) -> None:
    """Without a generator the default one gives the numbers, which goes on from where it was afterwards."""
    before = gs.get_rng_state()
    try:
        gs.manual_seed(setting.values[name].number)
        values: Values = {key: value for key, value in setting.values.items() if key != name}
        found = [array_of(result) for result in setting.subject.call(as_tensors(values))]
    finally:
        gs.set_rng_state(before)
    problem = "" if agree(found, setting.results()) else "does not draw from the default generator"
    proof.expect("random", f"without generator {name!r}", setting.label, problem)


def differs(setting: Setting, name: str) -> bool:
    """Does another seed give other results? One of a few, since what is drawn may be one of two values."""
    seed, plain = setting.values[name], setting.results()
    others = ({**setting.values, name: replace(seed, number=seed.number + n)} for n in range(1, SEEDS))
    return any(not agree(plain, setting.results(values)) for values in others)


def agree(ones: list[Array], others: list[Array]) -> bool:
    return len(ones) == len(others) and all(
        np.array_equal(one, other, equal_nan=one.dtype.kind in "fc") for one, other in zip(ones, others)
    )
