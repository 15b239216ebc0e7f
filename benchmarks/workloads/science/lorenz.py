"""Lorenz' system in tensors without dimensions: the gradients of a state by all parameters and the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case
from ...contestants import eager, functional

STEP = 0.01
START = (1.0, 1.1, 0.9, 10.0, 28.0, 8 / 3)  # x, y, z, and the three parameters


def trajectory(steps: int) -> Callable[..., Any]:
    def objective(lib: Any, x: Any, y: Any, z: Any, sigma: Any, rho: Any, beta: Any) -> Any:
        for _ in range(steps):
            x, y, z = advanced(x, y, z, sigma, rho, beta)
        return x * x + y * y + z * z

    return objective


def scanned(steps: int) -> Callable[..., Any]:
    """The same by `scan`, of libraries that have one."""

    def objective(lib: Any, x: Any, y: Any, z: Any, sigma: Any, rho: Any, beta: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            x, y, z = state
            return advanced(x, y, z, sigma, rho, beta), None

        (x, y, z), _ = lib.scan(step, (x, y, z), length=steps)
        return x * x + y * y + z * z

    return objective


def advanced(x: Any, y: Any, z: Any, sigma: Any, rho: Any, beta: Any) -> tuple[Any, Any, Any]:
    return x + STEP * (sigma * (y - x)), y + STEP * (x * (rho - z) - y), z + STEP * (x * y - beta * z)


def in_jax(steps: int) -> Callable[[Any, Any], Callable[..., Any]]:
    def build(jax: Any, jnp: Any) -> Callable[..., Any]:
        def objective(x: Any, y: Any, z: Any, *parameters: Any) -> Any:
            def step(state: Any, _: Any) -> Any:
                return advanced(*state, *parameters), None

            (x, y, z), _ = jax.lax.scan(step, (x, y, z), length=steps)
            return x * x + y * y + z * z

        def flat(*arguments: Any) -> Any:
            value, gradients = jax.value_and_grad(objective, tuple(range(6)))(*arguments)
            return (value, *gradients)

        return flat

    return build


def by_hand(steps: int) -> Callable[..., Any]:
    """The adjoint equations, in Python's own numbers."""

    def both(*arguments: Any) -> Any:
        x, y, z, sigma, rho, beta = map(float, arguments)
        states = []
        for _ in range(steps):
            states.append((x, y, z))
            x, y, z = advanced(x, y, z, sigma, rho, beta)
        a, b, c = 2 * x, 2 * y, 2 * z
        by_sigma = by_rho = by_beta = 0.0
        value = x * x + y * y + z * z
        for x, y, z in reversed(states):
            by_sigma += STEP * a * (y - x)
            by_rho += STEP * b * x
            by_beta -= STEP * c * z
            a, b, c = (
                a + STEP * (-sigma * a + (rho - z) * b + y * c), b + STEP * (sigma * a - b + x * c),
                c + STEP * (-x * b - beta * c),
            )  # fmt: skip
        return value, a, b, c, by_sigma, by_rho, by_beta

    return both


def gradients(steps: int) -> Builders:
    data = [np.array(number) for number in START]
    found = eager.gradients_of(trajectory(steps), *data) | functional.jitted(in_jax(steps), *data)
    autograd = {"autograd": functional.gradients_of(trajectory(steps), *data)["autograd"]}
    return found | autograd | functional.by_hand(by_hand(steps), *data)


def rows() -> Iterator[Case]:
    yield Case(
        "Lorenz, 200 steps, 0-d tensors", gradients, (200,), (5,), "torch 0.03", "torch 0.02", tolerance=1e-7, rounds=9
    )  # fmt: skip
