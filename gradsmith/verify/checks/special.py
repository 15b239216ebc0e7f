"""Gradients at special numbers: where the differences from both sides agree, there is a derivative to be given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..case import REAL, Setting
from ..domains import is_inside
from ..samples import at, replaced
from .elementwise import is_elementwise, tensors_of
from .reverse import name_of

if TYPE_CHECKING:
    from ..case import Subject
    from ..proof import Proof
    from ..samples import Array, Case, Place

NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 0.1)
STEP = 1e-5
# Weights of the values at no, one and two steps to one side.
ONE_SIDED = (-1.5, 2.0, -0.5)
AGREES = 1e-6
JUMP = 1e3  # what looks steeper is a jump
PRECISION = 1e-4
SMALL = (1e-4, -1e-4, 3e-4, 1e-3, -3e-3, 7e-3, -2e-2)
SINGLE = 2e-5


def check(subject: Subject, proof: Proof) -> None:
    for case in subject.cases:
        names = [place[0] for place in case.inputs]
        if names and names == tensors_of(case) and is_elementwise(subject, case):
            if not subject.row.subgradient:  # what the author has decided is in `points`
                check_slopes(with_numbers(subject, case, NUMBERS), proof)
            if len(names) == 1:
                check_small(with_numbers(subject, case, SMALL), proof)


def with_numbers(subject: Subject, case: Case, numbers: tuple[float, ...]) -> Setting:
    """All combinations of those in the domains of the inputs."""
    names = [place[0] for place in case.inputs]
    domains = [subject.row.domain.get(name) for name in names]
    chosen = [[x for x in numbers if domain is None or is_inside(x, domain)] for domain in domains]
    grids = np.meshgrid(*chosen)
    values = replaced(case.values(), {(name,): grid.ravel() for name, grid in zip(names, grids)})
    return Setting(subject, case, values, REAL, "special numbers")


def check_slopes(setting: Setting, proof: Proof) -> None:
    ones = [np.ones_like(result) for result in setting.root_arrays()]
    for place, found in zip(setting.places, setting.gradients(ones)):
        left, right = one_sided(setting, place, -STEP), one_sided(setting, place, STEP)
        scale = 1 + np.abs(right)
        agree = (np.abs(left - right) <= AGREES * scale**2) & (np.abs(right) < JUMP)
        slopes = right if found.dtype.kind == "c" else right.real
        expected = np.where(agree, slopes, found)
        name = f"{name_of(place)} where the differences from both sides agree"
        proof.compare("special", name, setting.label, found, expected, PRECISION, 1.0)


def one_sided(setting: Setting, place: Place, step: float) -> Array:
    """The slope of each element to one side."""
    array = at(setting.values, place)
    total = np.zeros(array.shape)
    for number, weight in enumerate(ONE_SIDED):
        (value,) = setting.root_arrays(replaced(setting.values, {place: array + number * step}))
        total = total + weight * value
    return total / step


def check_small(setting: Setting, proof: Proof) -> None:
    """In float32 nothing is lost to subtraction: every element is as exact as its own magnitude."""
    narrow = replaced(setting.values, {p: at(setting.values, p).astype(np.float32) for p in setting.places})
    single = setting.with_values(narrow, "small numbers, float32")
    wide = replaced(setting.values, {p: at(narrow, p).astype(np.float64) for p in setting.places})
    double = setting.with_values(wide, "small numbers")
    ones = [np.ones_like(result) for result in double.root_arrays()]
    narrow_ones = [np.ones_like(result) for result in single.root_arrays()]
    for found, expected in zip(single.results(), double.results()):
        proof.compare("float32", "value in float32 at small numbers", single.label, found, expected, SINGLE, 0.0)
    for place, found, expected in zip(setting.places, single.gradients(narrow_ones), double.gradients(ones)):
        name = f"{name_of(place)} in float32 at small numbers"
        proof.compare("float32", name, single.label, found, expected, SINGLE, 0.0)
