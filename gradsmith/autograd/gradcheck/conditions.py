"""Checks of gradients besides their values."""

from __future__ import annotations

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.gradcheck import analytical
from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.options import Options
from gradsmith.autograd.gradcheck.probes import Probes
from gradsmith.autograd.gradcheck.subject import Subject
from gradsmith.runtime.tensors.factories.creation import zeros_like


def reliable_jacobians(
    subject: Subject, output: int, unit: complex, probes: Probes, options: Options
) -> dict[int, Array]:
    """The gradients of one output, of the right sizes and dtypes, and the same when computed twice."""
    rows, again = (analytical.gradient_rows(subject, output, unit, probes) for _ in range(2))
    if not analytical.sizes_fit(subject, rows):
        raise GradcheckError(f"Analytical gradient has incorrect size, for output {output}")
    if options.check_grad_dtypes and not analytical.dtypes_fit(subject, rows):
        raise GradcheckError(f"Gradient has dtype mismatch, for output {output}")
    found, repeated = (analytical.jacobians(subject, one, probes) for one in (rows, again))
    if not analytical.are_close(found, repeated, options.nondet_tol):
        raise GradcheckError(
            f"Backward is not reentrant, i.e., running backward of output {output} with same input and grad_output "
            f"multiple times gives different values. The tolerance for nondeterminism was {options.nondet_tol}. If the "
            "function is random by design, pass nondet_tol=<tol>."
        )
    return found


def check_zero_gradient(subject: Subject, masked: bool) -> None:
    """A gradient is a product with the gradient that arrives: zeros give zeros."""
    outputs = subject.differentiable_outputs()
    found = grad(outputs, subject.targets, [zeros_like(output) for output in outputs], allow_unused=True)
    for place, gradient in zip(subject.places, found):
        if gradient is None:
            continue
        values = gradient.detach().numpy()
        if not (np.allclose(values, 0) if masked else np.all(values == 0)):
            raise GradcheckError(
                f"backward not multiplied by grad_output: the gradient of input {place} is not zero for gradients of "
                "zero"
            )
