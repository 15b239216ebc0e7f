"""Compiled gradients: programs of many small ops, beside the same functions run eagerly, PyTorch's, and JAX's jit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Program, arrays_of
from ...contestants import eager, functional, library
from . import lorenz, ode


def contestants(objective: Callable[..., Any], in_jax: Any, *data: Array) -> Builders:
    """Value and gradients of ``objective(lib, *tensors)``."""
    found = {"gradsmith": partial(_own, objective, data, True), "eager": partial(_own, objective, data, False)}
    torch = {"torch": eager.gradients_of(objective, *data)["torch"]}
    return found | torch | functional.jitted(in_jax, *data)


def _own(objective: Callable[..., Any], data: tuple[Array, ...], is_compiled: bool) -> Program:
    gs = library("gradsmith")
    tensors = [gs.tensor(array) for array in data]
    derived = gs.func.value_and_grad(lambda *given: objective(gs, *given), tuple(range(len(data))))

    def flat(*given: Any) -> Any:
        value, gradients = derived(*given)
        return (value, *gradients)

    function = gs.compile(flat) if is_compiled else flat
    return Program(lambda: function(*tensors), lambda: arrays_of(function(*tensors)))


def of_ode(steps: int, n: int) -> Builders:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((n, n)) / np.sqrt(n), rng.standard_normal(n)
    return contestants(ode.solution(steps), ode.in_jax(steps), *data)


def of_lorenz(steps: int) -> Builders:
    data = [np.array(number) for number in lorenz.START]
    return contestants(lorenz.trajectory(steps), lorenz.in_jax(steps), *data)


def of_elements(n: int) -> Builders:
    def objective(lib: Any, x: Any) -> Any:
        return lib.tanh(x * x).sum() + (lib.sin(x) * x).sum()

    def in_jax(jax: Any, jnp: Any) -> Callable[..., Any]:
        def flat(x: Any) -> Any:
            value, gradient = jax.value_and_grad(lambda x: objective(jnp, x))(x)
            return value, gradient

        return flat

    return contestants(objective, in_jax, np.random.default_rng(0).standard_normal(n))


def rows() -> Iterator[Case]:
    yield Case("compiled ODE, 1,000 steps", of_ode, (1000, 4), (5, 3), "torch 0.0045", "torch 0.003", tolerance=1e-8)
    yield Case("compiled Lorenz, 1,000 steps", of_lorenz, (1000,), (5,), "torch 0.001", "torch 0.0005", tolerance=1e-6)
    yield Case("compiled gradient, 50 numbers", of_elements, (50,), (5,), "torch 0.03", "torch 0.012", tolerance=1e-8)
