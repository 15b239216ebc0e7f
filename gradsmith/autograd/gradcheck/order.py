"""A function's gradient as a function, which can be checked in its turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.autograd import grad
from gradsmith.autograd.gradcheck.differences import Array
from gradsmith.autograd.gradcheck.probes import SEED
from gradsmith.autograd.gradcheck.subject import Subject, as_tuple, is_differentiable
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.python_data import is_tensor


def gradient_of(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, spread: bool = False
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The gradient as a function of the inputs and of the gradients of the outputs; and where to call it.

    Parameters
    ----------
    func, inputs
        What `gradcheck` takes.
    grad_outputs : Tensor or tuple of Tensor, optional
        Gradients of the outputs that require grad. By default random ones, the same in each run.
    spread : bool
        Whether the random ones are not contiguous.
    """
    subject = Subject(func, inputs)
    if grad_outputs is None:
        grad_outputs = random_gradients(subject.differentiable_outputs(), spread)
    given = as_tuple(grad_outputs)
    points = subject.inputs + given
    recorded = [is_differentiable(value) for value in points]

    def gradient(*values: Any) -> tuple[Any, ...]:
        # Forward mode takes inputs off the graph, which the gradient needs.
        values = tuple(v.requires_grad_() if wanted else v for v, wanted in zip(values, recorded))
        outputs = Subject(func, values[: -len(given)]).differentiable_outputs()
        vectors = [_as_gradient_of(o, v) for o, v in zip(outputs, values[-len(given) :], strict=True)]
        targets = [values[place] for place in subject.places]
        found = grad(outputs, targets, vectors, create_graph=True, allow_unused=True)
        return tuple(one for one in found if one is not None)

    return gradient, points


def random_gradients(outputs: list[Any], spread: bool) -> tuple[Any, ...]:
    random = np.random.default_rng(SEED)
    return tuple(from_array(_drawn(random, output, spread)).requires_grad_() for output in outputs)


def _drawn(random: np.random.Generator, output: Any, spread: bool) -> Array:
    """Numbers between -1 and 1."""
    shape = (*output.shape, 2) if spread else output.shape
    drawn: Any = random.uniform(-1, 1, shape)
    if output.is_complex():
        drawn = drawn + 1j * random.uniform(-1, 1, shape)
    array = np.asarray(drawn, output.dtype)
    return array[..., 0] if spread else array


def _as_gradient_of(output: Any, vector: Any) -> Any:
    """A complex step makes the output of a real function complex."""
    return vector.to(output.dtype) if is_tensor(vector) and output.is_complex() else vector
