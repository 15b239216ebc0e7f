"""A whole check, from the function to the verdict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradsmith.autograd.gradcheck import analytical, conditions, numerical
from gradsmith.autograd.gradcheck.batched import check_batched_forward, check_batched_gradients
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.numerical import Slopes
from gradsmith.autograd.gradcheck.options import Options
from gradsmith.autograd.gradcheck.probes import Probes, units_of
from gradsmith.autograd.gradcheck.report import Pair, expect_equal
from gradsmith.autograd.gradcheck.subject import Subject, check_inputs
from gradsmith.autograd.gradcheck.undefined import check_undefined_gradients, check_undefined_tangents


def check(func: Callable[..., Any], inputs: Any, options: Options) -> None:
    """Raise GradcheckError when something is wrong."""
    subject = Subject(func, inputs)
    check_inputs(subject)
    probes = all_probes(subject, options.fast_mode)
    slopes = {place: slopes_of(subject, place, probes, options) for place in subject.places}
    if not subject.differentiable:
        expect_constant(slopes, options)
        return
    if options.check_backward_ad:
        check_reverse(subject, slopes, probes, options)
    if options.check_forward_ad:
        check_forward(subject, slopes, probes, options)
        if options.check_undefined_grad:
            check_undefined_tangents(subject)
    if options.check_batched_forward_grad:
        check_batched_forward(subject)
    if options.check_backward_ad:
        if options.check_batched_grad:
            check_batched_gradients(subject)
        conditions.check_zero_gradient(subject, options.masked)
        if options.check_undefined_grad:
            check_undefined_gradients(subject)


def all_probes(subject: Subject, fast: bool) -> Probes:
    inputs = {place: subject.inputs[place] for place in subject.places}
    return Probes(inputs, dict(enumerate(subject.outputs)), fast)


def slopes_of(subject: Subject, place: int, probes: Probes, options: Options) -> Slopes:
    return numerical.slopes_along(subject, place, probes, options.eps, options.method)


def expect_constant(slopes: dict[int, Slopes], options: Options) -> None:
    """No output requires grad: then none may depend on an input that does."""
    tolerance = options.nondet_tol if options.fast_mode else 0
    for place, parts in slopes.items():
        for index, matrix in ((i, m) for matrices in parts for i, m in enumerate(matrices)):
            if np.any(np.abs(matrix) > tolerance):
                raise GradcheckError(
                    f"Numerical gradient for function expected to be zero, since no output requires grad, but output "
                    f"{index} changes with input {place}"
                )


# ---- reverse mode


def check_reverse(subject: Subject, slopes: dict[int, Slopes], probes: Probes, options: Options) -> None:
    for output in subject.differentiable:
        for unit in units_of(subject.outputs[output]):
            found = conditions.reliable_jacobians(subject, output, unit, probes, options)
            imaginary = unit == 1j
            for place in subject.places:
                expected = numerical.jacobian(slopes[place], output, imaginary, probes)
                pair = Pair(subject, output, place, imaginary, False, found[place], expected)
                slowly = partial(slow_reverse, subject, output, place, unit, options) if probes.fast else None
                expect_equal(pair, options, probes.scale(place, output), slowly)


def slow_reverse(subject: Subject, output: int, place: int, unit: complex, options: Options) -> Pair:
    probes = all_probes(subject, fast=False)
    imaginary = unit == 1j
    expected = numerical.jacobian(slopes_of(subject, place, probes, options), output, imaginary, probes)
    rows = analytical.gradient_rows(subject, output, unit, probes)
    return Pair(subject, output, place, imaginary, False, analytical.jacobians(subject, rows, probes)[place], expected)


# ---- forward mode


def check_forward(subject: Subject, slopes: dict[int, Slopes], probes: Probes, options: Options) -> None:
    for place in subject.places:
        pairs = forward_pairs(subject, place, slopes[place], probes, options)
        for pair in pairs:
            slowly = partial(slow_forward, pair, options) if probes.fast else None
            expect_equal(pair, options, probes.scale(place), slowly)


def forward_pairs(subject: Subject, place: int, slopes: Slopes, probes: Probes, options: Options) -> list[Pair]:
    found = analytical.tangents_along(subject, place, probes, options.check_grad_dtypes)
    return [
        Pair(subject, output, place, part == 1, True, found[part][output], slopes[part][output])
        for part in range(len(slopes))
        for output in subject.differentiable
    ]


def slow_forward(fast: Pair, options: Options) -> Pair:
    probes = all_probes(fast.subject, fast=False)
    slopes = slopes_of(fast.subject, fast.place, probes, options)
    pairs = forward_pairs(fast.subject, fast.place, slopes, probes, options)
    return next(pair for pair in pairs if (pair.output, pair.imaginary) == (fast.output, fast.imaginary))
