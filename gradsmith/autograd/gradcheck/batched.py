"""Several gradients or tangents at once have to be what they are one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradsmith.autograd.gradcheck.analytical import tangents_of
from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.autograd.gradcheck.errors import GradcheckError
from gradsmith.autograd.gradcheck.probes import SEED
from gradsmith.autograd.gradcheck.subject import Subject
from gradsmith.autograd.gradcheck.undefined import random_tangents
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
    """Several tangents carried through one run, each at a level of its own, against one run for each."""
    batch = [random_tangents(subject, SEED + number) for number in range(BATCH)]
    single = [[tangent for _, tangent in tangents_of(subject, tangents)] for tangents in batch]
    for index, (found, expected) in enumerate(zip(_in_one_run(subject, batch), zip(*single))):
        for one, other in zip(found, expected):
            _expect_batch(f"tangent of output {index}", one, other)


def _in_one_run(subject: Subject, batch: list[dict[int, Any]]) -> list[list[Any]]:
    """For each output a tangent for each level."""
    inputs = list(subject.inputs)
    for place in subject.places:
        inputs[place] = inputs[place].detach()
    with dual_level() as outer:
        for place, tangent in batch[0].items():
            inputs[place] = make_dual(inputs[place], tangent, level=outer)
        with dual_level() as inner:
            for place, tangent in batch[1].items():
                inputs[place] = make_dual(inputs[place], tangent, level=inner)
            outputs = subject.call(inputs)
            return [
                [unpack_dual(unpack_dual(o, level=inner).primal, level=outer).tangent, _plain(o, inner)]
                for o in outputs
            ]


def _plain(output: Any, level: int) -> Any:
    tangent = unpack_dual(output, level=level).tangent
    return None if tangent is None else tangent.detach()


def _normal(random: np.random.Generator, tensor: Any) -> Array:
    drawn: Any = random.normal(size=tensor.shape)
    if tensor.is_complex():
        drawn = drawn + 1j * random.normal(size=tensor.shape)
    return np.asarray(drawn, tensor.dtype)


def _expect_batch(what: str, found: Any, expected: Any) -> None:
    """`expected` is one value, or one for each member of the batch; None is zeros."""
    one = _values(found)
    other = np.stack(np.broadcast_arrays(*map(_values, expected))) if isinstance(expected, tuple) else _values(expected)
    if not np.allclose(one, other):
        raise GradcheckError(
            f"gradcheck failed while testing batched gradient computation: the {what} differs when several are "
            f"computed at once.\nGot:\n{one}\n\nExpected:\n{other}"
        )


def _values(value: Any) -> Any:
    return np.zeros(()) if value is None else value.detach().numpy()
