"""The `points` of an entry: gradients that the author decided, exactly as written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ...case import REAL, Setting
from ...samples import Case, array_of, as_tensors, at, evaluate, inputs_among, is_written_out, leaves_among

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradsmith.generated.op_table import Point

    from ...case import Subject
    from ...proof import Proof
    from ...samples import Values

PRECISION = {"float64": 1e-12, "float32": 1e-6}


def check(subject: Subject, proof: Proof) -> None:
    for point in subject.row.points:
        for dtype in PRECISION:
            for create_graph in (False, True):
                check_point(subject, point, dtype, create_graph, proof)


def check_point(subject: Subject, point: Point, dtype: str, create_graph: bool, proof: Proof) -> None:
    values = values_of(subject, point.arguments, dtype)
    places = [place for place in inputs_among(subject.row, values) if place[0] in point.gradient]
    tensors = as_tensors(values)
    leaves = leaves_among(tensors, places)
    roots = subject.differentiable(subject.call(tensors))
    found = grad(
        roots, leaves, [gs.ones_like(root) for root in roots], create_graph=create_graph, materialize_grads=True
    )
    shown = ", ".join(f"{name}: {text}" for name, text in point.arguments.items())
    for place, gradient in zip(places, found):
        expected = np.broadcast_to(evaluate(point.gradient[place[0]], 0, dtype), at(values, place).shape)
        name = f"gradient of {place[0]!r}" + (", recorded" if create_graph else "")
        setting = f"point, {dtype}: {{{shown}}}"
        proof.compare("points", name, setting, array_of(gradient), expected, PRECISION[dtype])


class Undefined(NamedTuple):
    """A number of an input at which the entry says that the gradient is not finite."""

    input: str
    number: float
    numbers: tuple[float, ...]  # of all inputs, where these are elements side by side


def where_undefined(subject: Subject) -> Iterator[Undefined]:
    """By the entry's `points`, of which `subgradient` says why."""
    for point in subject.row.points if subject.row.subgradient else ():
        values = values_of(subject, point.arguments, REAL)
        arrays = {p: at(values, p) for p in inputs_among(subject.row, values)}
        for place, array in arrays.items():
            gradient = np.broadcast_to(evaluate(point.gradient.get(place[0], "0.0"), 0, REAL), array.shape)
            for index in map(tuple, np.argwhere(~np.isfinite(gradient))):
                beside = [float(other[index]) for other in arrays.values() if other.shape == array.shape]
                yield Undefined(place[0], float(array[index]), tuple(beside))


def values_of(subject: Subject, texts: dict[str, str], dtype: str) -> Values:
    """Numbers written out are of that dtype where the op differentiates, else as they are."""
    values: dict[str, Any] = {}
    for argument in subject.row.arguments:
        if argument.name in texts:
            value = evaluate(texts[argument.name], 0, dtype)
            if is_written_out(argument, value):
                is_constant = argument.name in subject.row.non_differentiable
                value = np.asarray(value) if is_constant else np.asarray(value, dtype)
            values[argument.name] = value
    return values


def point_settings(subject: Subject) -> Iterator[Setting]:
    """The points as calls like those of samples."""
    for point in subject.row.points:
        case = Case(subject.row._replace(samples=(point.arguments,)), 0)
        yield Setting(subject, case, case.values(), REAL, "point")
