"""Gradients at special numbers: where the differences from both sides agree, there is a derivative to be given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...case import REAL, Setting
from ...domains import is_inside
from ...references.refusals import REFUSALS
from ...samples import at, replaced
from ..derivatives.reverse import name_of
from ..other_calls.elementwise import is_elementwise, tensors_of
from .points import where_undefined

if TYPE_CHECKING:
    from ...case import Subject
    from ...proof import Proof
    from ...samples import Array, Case, Place

NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 0.1)
KINKS = "special numbers"
FAR = (3.0, -3.0, 10.0, -10.0, 30.0, -30.0, 100.0, -100.0, 300.0, -300.0, 1e4, -1e4, 1e7, -1e7)
STEP = 2.0**-16  # which far numbers take without rounding
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
            check_slopes(with_numbers(subject, case, NUMBERS, KINKS), proof)
            check_slopes(with_numbers(subject, case, FAR, "numbers far from zero"), proof)
            if len(names) == 1:
                check_small(with_numbers(subject, case, SMALL), proof)


def with_numbers(subject: Subject, case: Case, numbers: tuple[float, ...], remark: str = "") -> Setting:
    """All combinations of them; without a remark of those in the domains of the inputs."""
    names = [place[0] for place in case.inputs]
    domains = [None if remark else subject.row.domain.get(name) for name in names]
    chosen = [[x for x in numbers if domain is None or is_inside(x, domain)] for domain in domains]
    grids = np.meshgrid(*chosen)
    values = replaced(case.values(), {(name,): grid.ravel() for name, grid in zip(names, grids)})
    return Setting(subject, case, values, REAL, remark or "small numbers")


def check_slopes(setting: Setting, proof: Proof) -> None:
    """Outside of the domain too, wherever the value is finite: a domain is no place to hide in."""
    try:
        ones = [np.ones_like(result) for result in setting.root_arrays()]
        gradients = setting.gradients(ones)
        sides = [Sides.of(setting, place) for place in setting.places]
    except REFUSALS:  # what is outside of the domain may be refused
        return
    for place, found, beside in zip(setting.places, gradients, sides):
        right = beside.right if found.dtype.kind == "c" else beside.right.real
        decided = is_decided(setting) | is_declared(setting, place, found)
        expected = np.where(beside.agree & ~decided, right, found)
        name = f"{name_of(place)} where the differences from both sides agree"
        proof.compare("special", name, setting.label, found, expected, PRECISION, 1.0)
        if setting.remark == KINKS and found.dtype.kind != "c":
            name = f"{name_of(place)} at a kink, where it is one of the slopes beside it or between them"
            expected = np.where(decided, found, between(found, beside.left.real, beside.right.real))
            proof.compare("special", name, setting.label, found, expected, PRECISION, 1.0)


def is_decided(setting: Setting) -> Array:
    """Where inputs are equal, and the author says what the gradient is: `points` show it."""
    arrays = [at(setting.values, place) for place in setting.places]
    equal = [one == other for one, other in combinations(arrays, 2)]
    none = np.zeros(arrays[0].shape, bool)
    return np.asarray(np.logical_or.reduce([none, *equal])) if setting.subject.row.subgradient else none


def is_declared(setting: Setting, place: Place, gradient: Array) -> Array:
    """Where a gradient is not finite, and the author says so: `points` show it."""
    declared = {(point.input, point.numbers) for point in where_undefined(setting.subject)}
    arrays = [at(setting.values, p).tolist() for p in setting.places]
    there = [(place[0], numbers) in declared for numbers in zip(*arrays)]
    return np.asarray(~np.isfinite(gradient) & there)


@dataclass(frozen=True)
class Sides:
    """Slopes of each element to both sides, and whether there is a derivative: smaller steps find the same."""

    left: Array
    right: Array
    agree: Array

    @staticmethod
    def of(setting: Setting, place: Place) -> Sides:
        left, right, near = (one_sided(setting, place, step) for step in (-STEP, STEP, STEP / 4))
        allowed = AGREES * (1 + np.abs(right)) ** 2
        steady = np.maximum(np.abs(left - right), np.abs(near - right)) <= PRECISION * np.abs(right)
        settled = np.abs(near - right) <= PRECISION * (1 + np.abs(right))  # not so of a fast oscillation
        agree = (np.abs(left - right) <= allowed) & settled & (steady | (np.abs(right) < JUMP))
        return Sides(left, right, agree & ~is_lost(setting, place, right))


def is_lost(setting: Setting, place: Place, slope: Array) -> Array:
    """Where a step beside a large value is rounded away, as that of `c` in ``a * b + c``."""
    (value,) = setting.differentiated()
    rounding = np.spacing(np.abs(value)) / (STEP / 4 * far_steps(at(setting.values, place)))
    return np.asarray(rounding > PRECISION * (1 + np.abs(slope)))


def far_steps(array: Array) -> Array:
    """How much longer a step is at numbers far from zero, so that rounding leaves it over."""
    return np.asarray(np.sqrt(np.maximum(1, np.abs(array))))


def between(found: Array, left: Array, right: Array) -> Array:
    """The gradient itself, or the nearest that may be one."""
    kink = (np.abs(left) < JUMP) & (np.abs(right) < JUMP)
    low, high = np.minimum(left, right), np.maximum(left, right)
    nearest = np.where(np.isfinite(found), np.clip(found, low, high), low)
    return np.where(kink, nearest, found)


def one_sided(setting: Setting, place: Place, step: float) -> Array:
    """The slope of each element to one side."""
    array = at(setting.values, place)
    steps = step * far_steps(array)
    total = np.zeros(array.shape)
    for number, weight in enumerate(ONE_SIDED):
        moved = array + number * steps if number else array  # -0.0 stays what it is
        (value,) = setting.differentiated(replaced(setting.values, {place: moved}))
        total = total + weight * value
    return np.asarray(total / steps)


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
    if setting.subject.row.cancellation:
        return  # see rounding.py, which knows how much the formula may lose
    for place, found, expected in zip(setting.places, single.gradients(narrow_ones), double.gradients(ones)):
        name = f"{name_of(place)} in float32 at small numbers"
        proof.compare("float32", name, single.label, found, expected, SINGLE, 0.0)
