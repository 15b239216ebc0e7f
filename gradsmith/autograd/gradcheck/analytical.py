"""Derivatives of the function under test as reverse and forward mode give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.probes import Probes, units_of
from gradsmith.autograd.gradcheck.subject import Subject
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import zeros_like

# ---- reverse mode


def gradient_rows(subject: Subject, output: int, unit: complex, probes: Probes) -> list[tuple[Any, ...]]:
    """For each direction of an output the gradients of all inputs, None where there is none."""
    tensor = subject.outputs[output]
    directions = (np.asarray(unit * one).astype(tensor.dtype) for one in probes.outputs[output].directions())
    return [
        grad(tensor, subject.targets, from_array(direction), retain_graph=True, allow_unused=True)
        for direction in directions
    ]


def jacobians(subject: Subject, rows: list[tuple[Any, ...]], probes: Probes) -> dict[int, Array]:
    """The gradients of each input as a matrix, seen through the probes: a row for each direction of the input."""
    return {place: _seen(subject, place, [row[n] for row in rows], probes) for n, place in enumerate(subject.places)}


def _seen(subject: Subject, place: int, gradients: list[Any], probes: Probes) -> Array:
    tensor = subject.inputs[place]
    rows = np.zeros((len(gradients), tensor.numel()), tensor.dtype)
    for row, gradient in zip(rows, gradients):
        if gradient is not None:
            row[...] = gradient.detach().numpy().ravel()
    parts = [part for part, _ in zip((rows.real, rows.imag), units_of(tensor))]
    real, *rest = [probe.project(part).T for probe, part in zip(probes.inputs[place], parts)]
    return real + 1j * rest[0] if rest else np.asarray(real)


def sizes_fit(subject: Subject, rows: list[tuple[Any, ...]]) -> bool:
    return all(g is None or g.shape == t.shape for row in rows for g, t in zip(row, subject.targets))


def dtypes_fit(subject: Subject, rows: list[tuple[Any, ...]]) -> bool:
    return all(g is None or g.dtype == t.dtype for row in rows for g, t in zip(row, subject.targets))


def are_close(one: dict[int, Array], other: dict[int, Array], tolerance: float) -> bool:
    """Whether two runs of one backward gave the same; NaN is the same as NaN."""
    return all(np.allclose(one[i], other[i], rtol=0, atol=tolerance, equal_nan=True) for i in one)


# ---- forward mode


def tangents_along(subject: Subject, place: int, probes: Probes, check_dtypes: bool) -> list[list[Array]]:
    """Tangents of all outputs along the directions of one input, arranged like the numerical slopes."""
    parts = zip(units_of(subject.inputs[place]), probes.inputs[place])
    return [_tangent_rows(subject, place, unit, probe, check_dtypes) for unit, probe in parts]


def _tangent_rows(subject: Subject, place: int, unit: complex, probe: Any, check_dtypes: bool) -> list[Array]:
    results = [np.zeros((probe.count, output.numel()), output.dtype) for output in subject.outputs]
    zeros = {other: zeros_like(subject.inputs[other].detach()) for other in subject.places}
    for row, direction in enumerate(probe.directions()):
        tangents = {**zeros, place: from_array(np.asarray(unit * direction).astype(zeros[place].dtype))}
        for result, (primal, tangent) in zip(results, tangents_of(subject, tangents)):
            if tangent is None:
                continue
            if check_dtypes and tangent.dtype != primal.dtype:
                raise GradcheckError(
                    f"Forward AD gradient has dtype mismatch: a tangent of {tangent.dtype} for an output of "
                    f"{primal.dtype}."
                )
            result[row] = tangent.detach().numpy().ravel()
    return results


def tangents_of(subject: Subject, tangents: dict[int, Any]) -> list[tuple[Any, Any]]:
    """Outputs and their tangents. Inputs that require grad and have no tangent given are detached."""
    with dual_level():
        inputs = list(subject.inputs)
        for place in subject.places:
            inputs[place] = inputs[place].detach()
            if place in tangents:
                inputs[place] = make_dual(inputs[place], tangents[place])
        return [tuple(unpack_dual(output)) for output in subject.call(inputs)]
