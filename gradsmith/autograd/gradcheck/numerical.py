"""Derivatives of the function under test from its values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.autograd.gradcheck.differences import CENTRAL, Array, complex_slopes, slopes
from gradsmith.autograd.gradcheck.options import COMPLEX_STEP
from gradsmith.autograd.gradcheck.probes import Probes, units_of
from gradsmith.autograd.gradcheck.subject import Subject, array_of

# For each part of the input (real, imaginary) and each output: a row for each direction of the input.
Slopes = list[list[Array]]


def slopes_along(subject: Subject, place: int, probes: Probes, eps: float, method: str) -> Slopes:
    """Slopes of all outputs along the directions of one input."""
    take = _complex_steps(subject, place) if method == COMPLEX_STEP else _differences(subject, place, eps)
    parts = zip(units_of(subject.inputs[place]), probes.inputs[place])
    return [_stacked(subject, [take(unit * direction) for direction in probe.directions()]) for unit, probe in parts]


def _stacked(subject: Subject, rows: list[list[Array]]) -> list[Array]:
    return [
        np.array([row[index] for row in rows]).reshape(len(rows), output.numel())
        for index, output in enumerate(subject.outputs)
    ]


def _differences(subject: Subject, place: int, eps: float) -> Callable[[Array], list[Array]]:
    tensor = subject.inputs[place]
    function, array = subject.moving(place), array_of(tensor)
    return lambda direction: slopes(function, array, direction.astype(tensor.dtype), eps, CENTRAL)


def _complex_steps(subject: Subject, place: int) -> Callable[[Array], list[Array]]:
    why_not = _why_not_in_plane(subject)
    if why_not:
        raise ValueError(f"gradcheck: method='complex_step' {why_not}; use method='difference'")
    function, array = subject.moving_in_plane(place), array_of(subject.inputs[place])

    def take(direction: Array) -> list[Array]:
        return [_require_analytic(found, index) for index, found in enumerate(step(direction))]

    def step(direction: Array) -> list[Array | None]:
        try:
            return complex_slopes(function, array, direction)
        except (TypeError, RuntimeError, NotImplementedError) as error:
            raise ValueError(
                "gradcheck: method='complex_step' calls func with complex tensors, which raised "
                f"{type(error).__name__}: {error}. Use method='difference'."
            ) from error

    return take


def _why_not_in_plane(subject: Subject) -> str:
    for name, tensors in (("inputs", subject.targets), ("outputs", subject.outputs)):
        if any(tensor.is_complex() for tensor in tensors):
            return f"is for real {name} that become complex, and some are complex already"
    return ""


def _require_analytic(found: Array | None, index: int) -> Array:
    if found is None:
        raise ValueError(
            f"gradcheck: method='complex_step' needs functions that are analytic, and output {index} of func is not at "
            "this point; use method='difference'"
        )
    return found


def jacobian(found: Slopes, output: int, imaginary: bool, probes: Probes) -> Array:
    """Expected gradient of the real or imaginary part of one output, projected on the probes.

    A row for each direction of the input. Of a complex input z = x + iy it is dL/dx + i dL/dy.
    """
    parts: list[Any] = [matrices[output].imag if imaginary else matrices[output].real for matrices in found]
    real, *rest = [probes.outputs[output].project(part) for part in parts]
    return real + 1j * rest[0] if rest else np.asarray(real)
