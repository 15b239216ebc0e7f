"""Several gradients or tangents at once have to be what they are one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.gradcheck.analytical import tangents_of
from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.probes import SEED
from gradsmith.autograd.gradcheck.subject import Subject
from gradsmith.autograd.gradcheck.undefined import random_tangents
from gradsmith.runtime.batching.levels import Caller, at_once
from gradsmith.runtime.graph.tensor import from_array

BATCH = 2


def check_batched_gradients(subject: Subject) -> None:
    """One call of `grad` with ``is_grads_batched=True`` against one call for each vector."""
    random = np.random.default_rng(SEED)
    for index in subject.differentiable:
        output = subject.outputs[index]
        vectors = [from_array(_normal(random, output)) for _ in range(BATCH)]
        single = [grad(output, subject.targets, v, retain_graph=True, allow_unused=True) for v in vectors]
        stacked = from_array(np.stack([vector.numpy() for vector in vectors]))
        try:
            batched = grad(
                output, subject.targets, stacked, retain_graph=True, allow_unused=True, is_grads_batched=True
            )
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}") from error
        for place, found, expected in zip(subject.places, batched, zip(*single)):
            _expect_batch(f"gradient of output {index} with respect to input {place}", found, expected)


def check_batched_forward(subject: Subject) -> None:
    """One run with a batch of tangents against one run for each tangent."""
    batch = [random_tangents(subject, SEED + number) for number in range(BATCH)]
    single = [[tangent for _, tangent in tangents_of(subject, tangents)] for tangents in batch]
    try:
        together = _in_one_run(subject, batch)
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}") from error
    for index, (found, expected) in enumerate(zip(together, zip(*single))):
        _expect_batch(f"tangent of output {index}", found, expected)


def _in_one_run(subject: Subject, batch: list[dict[int, Any]]) -> list[Any]:
    """The tangents of each output for those of the inputs, stacked."""
    places = list(batch[0])
    stacked = [from_array(np.stack([tangents[place].numpy() for tangents in batch])) for place in places]

    def run(slices: list[Any]) -> list[Any]:
        return [tangent for _, tangent in tangents_of(subject, dict(zip(places, slices)))]

    return at_once(Caller("gradcheck(check_batched_forward_grad=True)"), run, stacked, BATCH)


def _normal(random: np.random.Generator, tensor: Any) -> Array:
    drawn: Any = random.normal(size=tensor.shape)
    if tensor.is_complex():
        drawn = drawn + 1j * random.normal(size=tensor.shape)
    return np.asarray(drawn, tensor.dtype)


def _expect_batch(what: str, found: Any, expected: Sequence[Any]) -> None:
    """`expected` has one value for each member of the batch; None is zeros."""
    one = _values(found)
    other = np.stack(np.broadcast_arrays(*map(_values, expected)))
    if not np.allclose(one, other):
        raise GradcheckError(
            f"gradcheck failed while testing batched gradient computation: the {what} differs when several are "
            f"computed at once.\nGot:\n{one}\n\nExpected:\n{other}"
        )


def _values(value: Any) -> Any:
    return np.zeros(()) if value is None else value.detach().numpy()
