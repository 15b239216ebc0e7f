"""Jacobians by themselves, with the arguments that PyTorch's functions of these names have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.autograd.gradcheck import analytical, numerical
from gradsmith.autograd.gradcheck.options import DIFFERENCE
from gradsmith.autograd.gradcheck.probes import Probes
from gradsmith.autograd.gradcheck.subject import Subject, as_tuple
from gradsmith.runtime.graph.tensor import from_array


def of_first_output(fn: Callable[..., Any], inputs: Any, target: Any, eps: float) -> tuple[Any, ...]:
    subject = Subject(lambda *_: fn(inputs), inputs if target is None else target)
    refuse_complex(subject.outputs, "get_numerical_jacobian")
    return tuple(_numerical(subject, place, eps)[0] for place in subject.places)


def of_one_input(
    fn: Callable[..., Any], inputs: tuple[Any, ...], outputs: Any, target: Any, eps: float, complex_outputs: bool
) -> tuple[Any, ...]:
    subject = Subject(lambda *_: fn(*inputs), target)
    if not subject.places:
        raise AssertionError("Expected input to have requires_grad=True")
    subject.outputs = as_tuple(outputs)
    if not complex_outputs:
        refuse_complex(subject.outputs, "get_numerical_jacobian_wrt_specific_input")
    return _numerical(subject, 0, eps)


def _numerical(subject: Subject, place: int, eps: float) -> tuple[Any, ...]:
    """Jacobians of all outputs with respect to one of the tensors that `subject` has as its inputs."""
    probes = Probes({place: subject.inputs[place]}, dict(enumerate(subject.outputs)), fast=False)
    real, *imaginary = numerical.slopes_along(subject, place, probes, eps, DIFFERENCE)
    found = [one + 1j * other for one, other in zip(real, imaginary[0])] if imaginary else real
    return tuple(from_array(np.ascontiguousarray(one)) for one in found)


def by_backward(inputs: Any, output: Any, nondet_tol: float) -> tuple[tuple[Any, ...], bool, bool, bool]:
    """Jacobians; whether twice the same came out; whether sizes and dtypes are those of the inputs."""
    refuse_complex((output,), "get_analytical_jacobian")
    subject = Subject(lambda *_: output, inputs)
    probes = Probes({place: subject.inputs[place] for place in subject.places}, {0: output}, fast=False)
    rows, again = (analytical.gradient_rows(subject, 0, 1, probes) for _ in range(2))
    found, repeated = (analytical.jacobians(subject, one, probes) for one in (rows, again))
    reentrant = analytical.are_close(found, repeated, nondet_tol)
    tensors = tuple(from_array(np.ascontiguousarray(one)) for one in found.values())
    return tensors, reentrant, analytical.sizes_fit(subject, rows), analytical.dtypes_fit(subject, rows)


def refuse_complex(outputs: tuple[Any, ...], function: str) -> None:
    if any(output.is_complex() for output in outputs):
        raise ValueError(
            f"Expected output to be non-complex. {function} does not take functions that return complex outputs: take "
            "their real and imaginary parts."
        )


def refuse_other_gradients(grad_out: float, function: str) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {function} does not support values of grad_out != 1.0.")
