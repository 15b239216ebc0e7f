"""A differential equation in 1,000 steps of Euler's method: y' = tanh(W y), and the gradients of |y|² at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants import eager, functional

STEP = 0.01


def solution(steps: int) -> Callable[..., Any]:
    def objective(lib: Any, w: Any, y: Any) -> Any:
        for _ in range(steps):
            y = y + STEP * lib.tanh(w @ y)
        return (y * y).sum()

    return objective


def in_jax(steps: int) -> Callable[[Any, Any], Callable[..., Any]]:
    def build(jax: Any, jnp: Any) -> Callable[..., Any]:
        def objective(w: Any, y: Any) -> Any:
            y, _ = jax.lax.scan(lambda y, _: (y + STEP * jnp.tanh(w @ y), None), y, length=steps)
            return (y * y).sum()

        def flat(w: Any, y: Any) -> Any:
            value, gradients = jax.value_and_grad(objective, (0, 1))(w, y)
            return (value, *gradients)

        return flat

    return build


def by_hand(steps: int) -> Callable[..., Any]:
    def both(w: Array, y: Array) -> Any:
        values, slopes = [], []
        for _ in range(steps):
            values.append(y)
            slopes.append(np.tanh(w @ y))
            y = y + STEP * slopes[-1]
        grad, parts = 2 * y, []
        for slope in reversed(slopes):
            parts.append(STEP * grad * (1 - slope * slope))
            grad = grad + parts[-1] @ w
        return (y * y).sum(), np.array(parts[::-1]).T @ np.array(values), grad

    return both


def gradients(steps: int, n: int) -> Builders:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((n, n)) / np.sqrt(n), rng.standard_normal(n)
    found = eager.gradients_of(solution(steps), *data) | functional.jitted(in_jax(steps), *data)
    autograd = {"autograd": functional.gradients_of(solution(steps), *data)["autograd"]}
    return found | autograd | functional.by_hand(by_hand(steps), *data)


def rows() -> Iterator[Case]:
    for steps in (10, 100, 1000):
        bars = ("torch 0.10", "torch 0.06") if steps == 1000 else ("", "")
        yield Case(
            f"ODE, {steps} steps, 10 unknowns", gradients, (steps, 10), (5, 3), *bars, tolerance=1e-8, rounds=9,
            series="steps", size=steps,
        )  # fmt: skip
