"""Gradients and tangents that are undefined count as zeros."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.gradcheck.analytical import tangents_of
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.probes import SEED, RandomDirection
from gradsmith.autograd.gradcheck.subject import Subject
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.history.basic_ops import undefined_grad
from gradsmith.runtime.tensors.factories.creation import zeros_like

# ---- reverse mode


def check_undefined_gradients(subject: Subject) -> None:
    """All gradients of outputs undefined, then one at a time."""
    count = len(subject.differentiable)
    _check_undefined(subject, set(range(count)))
    if count > 1:
        for number in range(count):
            _check_undefined(subject, {number})


def _check_undefined(subject: Subject, undefined: set[int]) -> None:

    recorded = enumerate(subject.differentiable_outputs())
    outputs = [undefined_grad([output])[0] if number in undefined else output for number, output in recorded]
    which = [subject.differentiable[number] for number in sorted(undefined)]
    try:
        found = grad(outputs, subject.targets, [zeros_like(output) for output in outputs], allow_unused=True)
    except Exception as error:
        _warn_of_the_check()
        raise GradcheckError(
            f"Expected backward function to handle undefined output grads, but with those of outputs {which} undefined "
            f"(None) it raised {type(error).__name__}: {error}"
        ) from error
    for place, gradient in zip(subject.places, found):
        if gradient is not None and np.any(gradient.detach().numpy() != 0):
            _warn_of_the_check()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero, but the "
                f"gradient of input {place} is not, with the gradients of outputs {which} undefined"
            )


def _warn_of_the_check() -> None:
    """PyTorch's warning: the check is on by default, and functions that passed without it may fail."""
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default; "
        "pass check_undefined_grad=False to leave it out",
        UserWarning,
        stacklevel=2,
    )


# ---- forward mode


def check_undefined_tangents(subject: Subject) -> None:
    """An input without a tangent counts as one with a tangent of zeros."""
    tangents = random_tangents(subject)
    for place in subject.places:
        zeros = zeros_like(subject.inputs[place].detach())
        expected = tangents_of(subject, {**tangents, place: zeros})
        try:
            found = tangents_of(subject, {other: tangents[other] for other in tangents if other != place})
        except Exception as error:
            raise GradcheckError(
                f"Expected forward mode to handle undefined tangents, but without that of input {place} it raised "
                f"{type(error).__name__}: {error}"
            ) from error
        for index, ((_, one), (_, other)) in enumerate(zip(found, expected)):
            if not _are_alike(one, other):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index {index} when input {place} has an undefined "
                    f"tangent value. Got: {one} but expected: {other}, as with a tangent of zeros"
                )


def random_tangents(subject: Subject, seed: int = SEED) -> dict[int, Any]:
    """A direction for every input that requires grad."""
    random = np.random.default_rng(seed)
    return {
        place: from_array(RandomDirection(tensor.shape, random).direction.astype(tensor.dtype))
        for place, tensor in zip(subject.places, subject.targets)
    }


def _are_alike(one: Any, other: Any) -> bool:
    """Equal up to rounding, None being zeros."""
    if one is None and other is None:
        return True
    found, expected = (0.0 if tangent is None else tangent.detach().numpy() for tangent in (one, other))
    return bool(np.allclose(found, expected))
